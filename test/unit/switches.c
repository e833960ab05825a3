/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/**
 * @file
 * Leaf switches: lists of hosts, lines of a file, addresses of Slurm.
 */

#include "coll_pipering_plan_switches.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

static char said[MCA_COLL_PIPERING_SWITCHES_SAID];

static uint32_t switch_of(const char *text, const char *host)
{
    uint32_t leaf;

    return mca_coll_pipering_switches_find(text, host, &leaf, said) ? leaf : UINT32_MAX;
}

/* Whether a list has a host. */
static void lists(const char *list, const char *host, bool has)
{
    char text[200];

    snprintf(text, sizeof(text), "SwitchName=s Nodes=%s", list);
    ok((0 != switch_of(text, host)) == has, "%s %s %s", list, has ? "has" : "has no", host);
}

static void test_lists(void)
{
    static const struct {
        const char *list, *host;
        bool has;
    } cases[] = {
        {"n1", "n1", true},
        {"n1", "n10", false},
        {"n10", "n1", false},
        {"login,n1", "n1", true},
        {"n1,login", "login", true},
        {"n[0-3]", "n0", true},
        {"n[0-3]", "n3", true},
        {"n[0-3]", "n4", false},
        {"n[0-3]", "n", false},
        {"n[0-3]", "m2", false},
        {"n[8-12]", "n10", true},
        {"n[8-12]", "n010", false},
        {"n[01-16]", "n1", false},
        {"n[01-16]", "n09", true},
        {"n[01-16]", "n17", false},
        {"n[1,3,7-9]", "n8", true},
        {"n[1,3,7-9]", "n2", false},
        {"n[1,3],m[2-4],x", "m3", true},
        {"n[1,3],m[2-4],x", "m1", false},
        {"r[1-2]n[1-4]", "r2n3", true},
        {"r[1-2]n[1-4]", "r3n3", false},
        {"r[1-2]n[1-4]-ib", "r2n3-ib", true},
        {"r[1-2]n[1-4]-ib", "r2n3", false},
        {"a[1-2][1-2]", "a12", true},
        {"a[1-2][1-2]", "a13", false},
        {"n1", "n1.cluster.example", true},
        {"n[1-4].cluster.example", "n3", true},
        {"n[1-4].cluster.example", "n3.other", true},
        {"n[1-4]", "n3.cluster", true},
        {"n1", "n11.cluster", false},
        {"n[1-1000000]", "n5", true},
        {"n[000000000000000001-000000000000000016]", "n000000000000000005", true},
        {"n[1-4]", "n1111111111111111111111111", false},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        lists(cases[i].list, cases[i].host, cases[i].has);
    }
}

#define NUMBERS "expected numbers of up to 18 digits in brackets, such as n[01-16,20]"

/* Lists that hold for no host, whichever asks. */
static const struct {
    const char *list, *fault;
} bad[] = {
    {"n[1", NUMBERS},
    {"n[]", NUMBERS},
    {"n[[[[", NUMBERS},
    {"n[1,]", NUMBERS},
    {"n[1-]", NUMBERS},
    {"n[-3]", NUMBERS},
    {"n[1-2-3]", NUMBERS},
    {"m[a-b]", NUMBERS},
    {"n[1-9999999999999999999]", NUMBERS},
    {"n1]", "a bracket is closed that is not open"},
    {"m[2],n[9-1]", "a range of numbers goes from the larger to the smaller one"},
    {"n[1-999999999999]", "a range has more than 1000000 numbers"},
    {"n[0-1000000]", "a range has more than 1000000 numbers"},
};

/* What is wrong is said with its line, and nothing is found. */
static void wrong(const char *text, const char *expected)
{
    ok(UINT32_MAX == switch_of(text, "n1") && 0 == strcmp(expected, said), "%s", expected);
}

static void test_lines(void)
{
    const char *text = "# a fat tree\n"
                       "SwitchName=leaf1 Nodes=n[1-2]\n"
                       "  switchname=leaf2\tLinkSpeed=5 nodes=n[3-4] # n[5-6]\r\n"
                       "\n"
                       "SwitchName=spine Switches=leaf[1-2]\n";

    ok(0 != switch_of(text, "n1") && switch_of(text, "n1") == switch_of(text, "n2"),
       "nodes of a line have one switch");
    ok(0 != switch_of(text, "n3") && switch_of(text, "n3") == switch_of(text, "n4")
           && switch_of(text, "n3") != switch_of(text, "n1"),
       "those of another line another one; words in any case and order");
    ok(0 == switch_of(text, "n5"), "a comment names none");
    ok(0 == switch_of(text, "leaf1"), "a switch of switches has no nodes");
    ok(0 == switch_of("", "n1") && 0 == switch_of("\n\n", "n1"), "an empty text names none");
    ok(switch_of("SwitchName=b Nodes=n2;SwitchName=a Nodes=n1", "n1")
           == switch_of("SwitchName=a Nodes=n1", "n1"),
       "lines end with semicolons, too");
    ok(switch_of("SwitchName=a Nodes=n1\nSwitchName=a Nodes=n[1-2]", "n1")
           == switch_of("SwitchName=a Nodes=n1", "n1"),
       "two lines of a switch may name a host");
    ok(0 == switch_of("SwitchName=a Nodes=n1\nSwitchName=b Nodes=n1", "n2"),
       "a host that two switches have is a fault on that host alone");
    wrong("SwitchName=a Nodes=n1\nleaf2: n2\n",
          "line 2: \"leaf2: n2\": expected \"SwitchName=NAME Nodes=HOSTS\"");
    wrong("SwitchName=a", "line 1: \"SwitchName=a\": expected \"SwitchName=NAME Nodes=HOSTS\"");
    wrong("Nodes=n1 # a", "line 1: \"Nodes=n1 \": expected \"SwitchName=NAME Nodes=HOSTS\"");
    wrong("SwitchName=a Nodes=n1;SwitchName=b Nodes=n[0-2]",
          "line 2: \"SwitchName=b Nodes=n[0-2]\": a line before names this node, too");
    wrong("SwitchName=a Nodes=\033[2Jn", "line 1: \"SwitchName=a Nodes=?[2Jn\": " NUMBERS);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        char text[200], expected[400];
        snprintf(text, sizeof(text), "SwitchName=s Nodes=%s", bad[i].list);
        snprintf(expected, sizeof(expected), "line 1: \"%s\": %s", text, bad[i].fault);
        wrong(text, expected);
    }
    wrong("SwitchName= Nodes=n1",
          "line 1: \"SwitchName= Nodes=n1\": expected \"SwitchName=NAME Nodes=HOSTS\"");
}

static void test_addresses(void)
{
    const char *pattern = "switch.switch.node";
    const uint32_t here = mca_coll_pipering_switches_address("s0.s1.n1", pattern);

    ok(0 != here && here == mca_coll_pipering_switches_address("s0.s1.n2", pattern),
       "nodes of a switch");
    ok(here != mca_coll_pipering_switches_address("s0.s2.n1", pattern), "of another one");
    ok(here != mca_coll_pipering_switches_address("s2.s1.n1", pattern),
       "of one of that name elsewhere");
    ok(here == mca_coll_pipering_switches_address("s0.s1.n1.example", pattern),
       "a node's name may have dots");
    ok(0 == mca_coll_pipering_switches_address("n1", "node"), "a cluster without switches");
    ok(0 == mca_coll_pipering_switches_address(NULL, pattern)
           && 0 == mca_coll_pipering_switches_address("s0.n1", NULL),
       "Slurm says nothing");
    ok(0 != mca_coll_pipering_switches_address("s0", pattern), "an address that ends too early");
}

int main(void)
{
    tap_start();
    test_lists();
    test_lines();
    test_addresses();
    return tap_end();
}
