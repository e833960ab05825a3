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
 * Leaf switches, the switches to which nodes are connected: a reader of lines in the format of
 * Slurm's topology.conf, and of the address that Slurm gives a process.
 *
 *     spine          spine
 *       |  \         /  |
 *     leaf1          leaf2          near: n1 and n2, far: n1 and n3
 *     n1 n2          n3 n4
 *
 * Cost: a line is read once, each range of numbers in it compared with the host's digits. Limits:
 * the switches above the leaves are not told apart.
 */

#include "coll_pipering_plan_switches.h"
#include "ompi/mca/common/colltools/common_colltools_array.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* More digits are no number of a host ... */
#define DIGITS_MOST 18

/* ... and more hosts no range of numbers. */
#define HOSTS_MOST 1000000

/* Never 0. */
static uint32_t hash_of(const char *name, size_t length)
{
    const uint32_t hash = mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, name, length);

    return 0 == hash ? 1 : hash;
}

/* ---- lists of hosts ---- */

static bool is_in_pattern(const char *pattern, const char *end, const char *host);

/* Whether so many digits are one of the numbers "07" or "01-16", written with as many digits. */
static bool is_in_range(const char *range, const char *digits, size_t count)
{
    const size_t least = strspn(range, "0123456789");
    const char *most = '-' == range[least] ? range + least + 1 : range;
    char number[DIGITS_MOST + 1] = "";

    if (0 == least || count < least || (count > least && '0' == digits[0])) {
        return false;
    }
    memcpy(number, digits, count);
    const unsigned long long value = strtoull(number, NULL, 10);
    return strtoull(range, NULL, 10) <= value && value <= strtoull(most, NULL, 10);
}

/* Whether a host begins with a number of "[01-16,20]", and goes on as the pattern does. */
static bool is_in_ranges(const char *ranges, const char *end, const char *host)
{
    const char *close = memchr(ranges, ']', (size_t) (end - ranges));
    const size_t digits = strspn(host, "0123456789");

    for (const char *range = ranges + 1; NULL != close && range < close;
         range += strcspn(range, ",]") + 1) {
        for (size_t count = 1; count <= digits && DIGITS_MOST >= count; ++count) {
            if (is_in_range(range, host, count)
                && is_in_pattern(close + 1, end, host + count)) {
                return true;
            }
        }
    }
    return false;
}

static bool is_in_pattern(const char *pattern, const char *end, const char *host)
{
    while (pattern < end && '[' != *pattern && '.' != *pattern && *pattern == *host) {
        ++pattern;
        ++host;
    }
    if (pattern < end && '[' == *pattern) {
        return is_in_ranges(pattern, end, host);
    }
    return pattern == end ? '\0' == *host || '.' == *host
                          : '.' == *pattern && ('\0' == *host || '.' == *host);
}

/* Whether a host is in "n[01-16],login". */
static bool is_in_list(const char *list, const char *end, const char *host)
{
    while (list < end) {
        const char *next = list;
        for (bool inside = false; next < end && (inside || ',' != *next); ++next) {
            inside = '[' == *next || (inside && ']' != *next);
        }
        if (is_in_pattern(list, next, host)) {
            return true;
        }
        list = next + 1;
    }
    return false;
}

/* ---- what is wrong with a list ---- */

static unsigned long long read_number(const char **text)
{
    const size_t digits = strspn(*text, "0123456789");
    const unsigned long long number = 0 == digits || DIGITS_MOST < digits
                                          ? ULLONG_MAX
                                          : strtoull(*text, NULL, 10);

    *text += digits;
    return number;
}

/* Steps behind the "]" of "[01-16,20]". What is wrong with it; NULL: nothing. */
static const char *check_ranges(const char **text)
{
    do {
        ++*text;
        const unsigned long long least = read_number(text);
        unsigned long long most = least;
        if ('-' == **text) {
            ++*text;
            most = read_number(text);
        }
        if (ULLONG_MAX == least || ULLONG_MAX == most || (',' != **text && ']' != **text)) {
            return "expected numbers of up to 18 digits in brackets, such as n[01-16,20]";
        }
        if (least > most) {
            return "a range of numbers goes from the larger to the smaller one";
        }
        if (HOSTS_MOST <= most - least) {
            return "a range has more than 1000000 numbers";
        }
    } while (',' == **text);
    ++*text;
    return NULL;
}

/* What is wrong with a list of hosts; NULL: nothing. */
static const char *check_list(const char *list, const char *end)
{
    const char *fault = NULL;

    while (NULL == fault && list < end) {
        if ('[' == *list) {
            fault = check_ranges(&list);
        } else if (']' == *list) {
            fault = "a bracket is closed that is not open";
        } else {
            ++list;
        }
    }
    return fault;
}

/* ---- lines ---- */

typedef struct {
    const char *value;
    size_t length; /* 0: the line does not have it */
} word_t;

/* The value of "key=value" in a line. */
static word_t find_word(const char *line, const char *end, const char *key)
{
    const size_t length = strlen(key);

    while (line < end) {
        line += strspn(line, " \t\r");
        const char *behind = line + strcspn(line, " \t\r\n;#");
        if (line + length < behind && '=' == line[length] && 0 == strncasecmp(line, key, length)) {
            return (word_t){line + length + 1, (size_t) (behind - line) - length - 1};
        }
        line = behind < end ? behind + 1 : end;
    }
    return (word_t){NULL, 0};
}

/* Says what is wrong with a line; false. */
static bool refuse(int number, const char *line, const char *end, const char *fault,
                   char said[MCA_COLL_PIPERING_SWITCHES_SAID])
{
    (void) snprintf(said, MCA_COLL_PIPERING_SWITCHES_SAID, "line %d: \"%.*s\": %s", number,
                    100 < end - line ? 100 : (int) (end - line), line, fault);
    mca_common_colltools_make_printable(said);
    return false;
}

bool mca_coll_pipering_switches_find(const char *text, const char *host, uint32_t *leaf,
                                     char said[MCA_COLL_PIPERING_SWITCHES_SAID])
{
    *leaf = 0;
    for (int number = 1; '\0' != *text; ++number) {
        const char *end = text + strcspn(text, "\n;"), *line = text + strspn(text, " \t\r");
        const char *hash = memchr(text, '#', (size_t) (end - text));
        const char *behind = NULL == hash ? end : hash;
        const word_t name = find_word(line, behind, "SwitchName");
        const word_t nodes = find_word(line, behind, "Nodes");
        if (line < behind && (0 == name.length
                              || (0 == nodes.length
                                  && 0 == find_word(line, behind, "Switches").length))) {
            return refuse(number, line, behind, "expected \"SwitchName=NAME Nodes=HOSTS\"", said);
        }
        const char *fault = check_list(nodes.value, nodes.value + nodes.length);
        if (NULL == fault && 0 < nodes.length
            && is_in_list(nodes.value, nodes.value + nodes.length, host)) {
            const uint32_t found = hash_of(name.value, name.length);
            fault = 0 == *leaf || found == *leaf ? NULL : "a line before names this node, too";
            *leaf = found;
        }
        if (NULL != fault) {
            *leaf = 0;
            return refuse(number, line, behind, fault, said);
        }
        text = end + ('\0' != *end);
    }
    return true;
}

/* ---- addresses ---- */

uint32_t mca_coll_pipering_switches_address(const char *address, const char *pattern)
{
    size_t length = 0;

    if (NULL == address || NULL == pattern) {
        return 0;
    }
    for (const char *part = strchr(pattern, '.'); NULL != part; part = strchr(part + 1, '.')) {
        length += strcspn(address + length, ".");
        length += NULL != strchr(part + 1, '.') && '.' == address[length];
    }
    return 0 == length ? 0 : hash_of(address, length);
}
