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
 * Machines: what is written is read back, byte for byte and in any layout; what cannot be read
 * is said, with its line and the legal values; usual machines; costs under load.
 */

#include <math.h>
#include <string.h>

#include "coll_pipering_plan_machine.h"
#include "tap.h"

#define VALUES MCA_COLL_PIPERING_MACHINE_VALUES
#define TEXT 2048

typedef mca_coll_pipering_machine_t machine_t;

static bool has_words(int value)
{
    return MCA_COLL_PIPERING_NET_OVERLAP == value || MCA_COLL_PIPERING_LOCAL_OVERLAP == value;
}

/* Of all lengths: whole, with few digits, with all that a number has. */
static double random_number(void)
{
    const double whole = (double) tap_below((uint64_t) 1 << tap_below(20));

    switch (tap_below(4)) {
    case 0:
        return whole;
    case 1:
        return whole / 1000;
    case 2:
        return whole / 3;
    default:
        return ldexp((double) tap_random(), tap_between(-100, -45));
    }
}

static machine_t random_machine(void)
{
    machine_t machine;

    for (int i = 0; i < VALUES; i++) {
        machine.value[i] = has_words(i) ? (double) tap_below(2)
                           : MCA_COLL_PIPERING_NET_BOTH == i ? tap_between(0, 10000) / 100.0
                                                         : random_number();
    }
    machine.value[MCA_COLL_PIPERING_NET_BETA_MOST]
        = fmin(1e6, machine.value[MCA_COLL_PIPERING_NET_BETA]
                        + (tap_once_in(2) ? random_number() : 0));
    return machine;
}

static machine_t garbage(void)
{
    machine_t machine;

    tap_garbage(&machine, sizeof(machine));
    return machine;
}

static bool is_same(const machine_t *a, const machine_t *b)
{
    return 0 == memcmp(a, b, sizeof(*a))
           && mca_coll_pipering_machine_hash(a) == mca_coll_pipering_machine_hash(b);
}

/* ---- written and read back ---- */

/* Blanks that change nothing; `line`: a new line may be among them. */
static void add_blanks(char *text, bool line)
{
    static const char *const blanks[] = {" ", "\t", "  ", "\r\n", "\n", " # text = 3\n",
                                         "#\r\n\r\n"};

    strcat(text, blanks[tap_below(line ? 7 : 3)]);
}

/* The same in another layout: "name = value", in lines, with comments and empty lines. */
static void lay_out(const char *text, char *other)
{
    other[0] = '\0';
    for (; '\0' != *text; text++) {
        if ('=' == *text) {
            tap_once_in(2) ? add_blanks(other, false) : (void) 0;
            strcat(other, "=");
            tap_once_in(2) ? add_blanks(other, false) : (void) 0;
        } else if (' ' == *text) {
            add_blanks(other, true);
            tap_once_in(3) ? add_blanks(other, true) : (void) 0;
        } else {
            strncat(other, text, 1);
        }
    }
    tap_once_in(2) ? add_blanks(other, true) : (void) 0;
}

static void test_written(void)
{
    tap_tally_t same = {0, 0}, room = {0, 0}, layout = {0, 0}, differ = {0, 0};
    char text[TEXT], some[TEXT], other[4 * TEXT], again[TEXT], said[MCA_COLL_PIPERING_MACHINE_SAID];

    for (int i = 0; i < 5000; i++) {
        const machine_t machine = random_machine();
        machine_t read = garbage(), changed = machine;

        mca_coll_pipering_machine_write(&machine, text, sizeof(text));
        bool good = mca_coll_pipering_machine_read(&read, text, said);
        again[0] = '\0';
        if (good) {
            mca_coll_pipering_machine_write(&read, again, sizeof(again));
        }
        tap_try(&same,
                good && is_same(&machine, &read) && 0 == strcmp(text, again)
                    && NULL == strchr(text, '\n') && sizeof(text) > strlen(text) + 1,
                "%s, read: %s", text, good ? again : said);
        const size_t size = 1 + tap_below(strlen(text) + 1);
        some[size] = 'x';
        mca_coll_pipering_machine_write(&machine, some, size);
        tap_try(&room, 'x' == some[size] && size - 1 == strlen(some)
                           && 0 == strncmp(text, some, size - 1), "%s: %zu bytes", text, size);
        lay_out(text, other);
        read = garbage();
        good = mca_coll_pipering_machine_read(&read, other, said);
        tap_try(&layout, good && is_same(&machine, &read), "%s: %s", other, good ? "" : said);
        const int value = (int) tap_below(VALUES);
        changed.value[value] = has_words(value) ? 0 == machine.value[value]
                                                : machine.value[value] + 1;
        tap_try(&differ,
                mca_coll_pipering_machine_hash(&machine) != mca_coll_pipering_machine_hash(&changed)
                    && 0 != mca_coll_pipering_machine_hash(&machine),
                "%s: %s is %g", text, mca_coll_pipering_machine_name(value), changed.value[value]);
    }
    tally_ok(&same, 5000, "what is written is one line, and read back, byte for byte");
    tally_ok(&room, 5000, "no more is written than there is room for");
    tally_ok(&layout, 5000, "so it is in lines, with comments and blanks");
    tally_ok(&differ, 5000, "machines that differ have other hashes");
}

/* ---- some of the values ---- */

static double read_one(machine_t *machine, const char *text, int value)
{
    char said[MCA_COLL_PIPERING_MACHINE_SAID];

    return mca_coll_pipering_machine_read(machine, text, said) ? machine->value[value] : NAN;
}

static void test_some(void)
{
    const machine_t usual = mca_coll_pipering_machine_usual(MCA_COLL_PIPERING_TRANSPORT_TCP, 800,
                                                            80000);
    machine_t machine = usual;

    ok(7 == read_one(&machine, "# nothing\n\n\tnet_alpha=3\nnet_alpha = 7",
                     MCA_COLL_PIPERING_NET_ALPHA),
       "the last value of a name counts");
    machine.value[MCA_COLL_PIPERING_NET_ALPHA] = usual.value[MCA_COLL_PIPERING_NET_ALPHA];
    ok(is_same(&machine, &usual), "what is not named stays");
    machine = usual;
    ok(80 == read_one(&machine, "net_gap=1", MCA_COLL_PIPERING_NET_BETA_MOST),
       "a text without either leaves the range of links");
    ok(80 == read_one(&machine, "net_beta=5 net_beta_most=80", MCA_COLL_PIPERING_NET_BETA_MOST),
       "one that states it, too, though one end stays");
    machine = usual;
    ok(0.8 == read_one(&machine, "net_beta=0.8", MCA_COLL_PIPERING_NET_BETA_MOST),
       "net_beta alone states a rate, though it is that of before");
    ok(!mca_coll_pipering_machine_doubted(&machine), "which is not doubted");
    ok(9 == read_one(&machine, "net_beta_most=9 net_beta=5", MCA_COLL_PIPERING_NET_BETA_MOST)
           && mca_coll_pipering_machine_doubted(&machine),
       "with net_beta_most a range, which is");
    ok(5 == read_one(&machine, "net_beta=5 net_beta_most=4", MCA_COLL_PIPERING_NET_BETA_MOST),
       "which does not end before it begins");
    ok(1 == read_one(&machine, "net_overlap = true # x", MCA_COLL_PIPERING_NET_OVERLAP)
           && 0 == read_one(&machine, "net_overlap\t=false#x", MCA_COLL_PIPERING_NET_OVERLAP),
       "a comment may follow at once");
    ok(3 == read_one(&machine, "\r\n \r\nnet_gap=3\r\n", MCA_COLL_PIPERING_NET_GAP),
       "lines may end as on Windows");
}

/* ---- bad texts ---- */

static const struct {
    const char *text, *line, *names, *legal; /* what is said has all of these */
} bad[] = {
    {"net_alpha", "line 1:", "net_alpha", "name = value"},
    {"net_alpha 5", "line 1:", "net_alpha", "name = value"},
    {"net_alpha\n= 5", "line 1:", "net_alpha", "name = value"},
    {"net_gap=1\nnet_alpha # = 5", "line 2:", "net_alpha", "name = value"},
    {"5", "line 1:", "5", "name = value"},
    {"net_gap=1 2", "line 1:", "2", "name = value"},
    {"= 5", "line 1:", "\"\"", "net_alpha net_beta"},
    {"net_betta = 5", "line 1:", "net_betta", "net_alpha net_beta"},
    {"NET_ALPHA=5", "line 1:", "NET_ALPHA", "ranks_per_processor"},
    {"net_alph=5", "line 1:", "net_alph", "ranks_per_processor"},
    {"net_alphas=5", "line 1:", "net_alphas", "ranks_per_processor"},
    {"\xef\xbb\xbfnet_alpha=5", "line 1:", "net_alpha", "ranks_per_processor"},
    {"\n\n# x\n\r\nalpha=5", "line 5:", "alpha", "ranks_per_processor"},
    {"net_alpha=", "line 1:", "net_alpha", "microseconds, 0 to 1000000"},
    {"net_alpha=\n5", "line 1:", "net_alpha", "microseconds, 0 to 1000000"},
    {"net_alpha=#5", "line 1:", "net_alpha", "microseconds, 0 to 1000000"},
    {"net_alpha=-1", "line 1:", "-1", "microseconds, 0 to 1000000"},
    {"net_alpha=1e7", "line 1:", "1e7", "microseconds, 0 to 1000000"},
    {"net_alpha=inf", "line 1:", "inf", "microseconds, 0 to 1000000"},
    {"net_alpha=nan", "line 1:", "nan", "microseconds, 0 to 1000000"},
    {"net_alpha=5us", "line 1:", "5us", "microseconds, 0 to 1000000"},
    {"net_alpha=5,net_gap=1", "line 1:", "5,net_gap=1", "microseconds, 0 to 1000000"},
    {"net_alpha=5=6", "line 1:", "5=6", "microseconds, 0 to 1000000"},
    {"net_gap=1\nnet_beta=x", "line 2:", "net_beta", "nanoseconds, 0 to 1000000"},
    {"net_both=101", "line 1:", "net_both", "times, 0 to 100"},
    {"net_eager=1073741825", "line 1:", "net_eager", "bytes, 0 to 1073741824"},
    {"ranks_per_processor=two", "line 1:", "ranks_per_processor", "ranks, 0 to 1000000"},
    {"net_overlap=1", "line 1:", "net_overlap", "false true"},
    {"net_overlap=", "line 1:", "net_overlap", "false true"},
    {"local_overlap=tru", "line 1:", "tru", "false true"},
    {"local_overlap=trues", "line 1:", "trues", "false true"},
    {"net_alpha=5\nnet_overlap=true false", "line 2:", "false", "name = value"},
};

static void test_bad(void)
{
    tap_tally_t named = {0, 0}, lines = {0, 0};
    char said[MCA_COLL_PIPERING_MACHINE_SAID], text[3 * MCA_COLL_PIPERING_MACHINE_SAID];

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        machine_t machine = garbage();
        strcpy(said, "nothing");
        const bool good = mca_coll_pipering_machine_read(&machine, bad[i].text, said);
        tap_try(&named,
                !good && 0 == strncmp(said, bad[i].line, strlen(bad[i].line))
                    && NULL != strstr(said, bad[i].names) && NULL != strstr(said, bad[i].legal)
                    && NULL == strchr(said, '\n'),
                "\"%s\": %s", bad[i].text, said);
    }
    tally_ok(&named, 30, "bad texts: what is said has the line, the name and the legal values");
    for (int i = 0; i < 1000; i++) {
        const machine_t machine = random_machine();
        const int before = tap_between(0, 20), length = tap_between(50, (int) sizeof(text) - 100);
        machine_t read = machine;
        char line[32];
        memset(text, 'n', sizeof(text));
        memset(text, '\n', (size_t) before);
        text[length] = '\0';
        strcat(text, tap_once_in(2) ? "=5" : "");
        (void) snprintf(line, sizeof(line), "line %d:", before + 1);
        const bool good = mca_coll_pipering_machine_read(&read, text, said);
        tap_try(&lines,
                !good && 0 == strncmp(said, line, strlen(line)) && NULL != strstr(said, "nnn")
                    && (NULL != strstr(said, " ranks_per_processor") || NULL != strstr(said, "name = value")),
                "%d characters: %s", length, said);
    }
    tally_ok(&lines, 1000, "names of any length leave room for these");
}

static void test_names(void)
{
    bool good = true;

    for (int i = 0; i < VALUES; i++) {
        good = good && NULL != mca_coll_pipering_machine_name(i)
               && '\0' != *mca_coll_pipering_machine_unit(i)
               && (has_words(i) == (NULL != strchr(mca_coll_pipering_machine_unit(i), ' ')));
        for (int k = 0; k < i; k++) {
            good = good && 0 != strcmp(mca_coll_pipering_machine_name(i),
                                       mca_coll_pipering_machine_name(k));
        }
    }
    ok(good, "all values have a name of their own, and a unit or words");
    ok(NULL == mca_coll_pipering_machine_name(-1) && NULL == mca_coll_pipering_machine_name(VALUES),
       "others have none");
}

/* ---- usual machines ---- */

static void test_usual(void)
{
    tap_tally_t sane = {0, 0};
    machine_t both[MCA_COLL_PIPERING_TRANSPORTS];

    for (int i = 0; i < 2000; i++) {
        const uint32_t beta = 1 + (uint32_t) tap_below(1 << tap_between(1, 20));
        const uint32_t most = beta + (tap_once_in(2) ? (uint32_t) tap_below(1 << 20) : 0);
        for (int t = 0; t < MCA_COLL_PIPERING_TRANSPORTS; t++) {
            const machine_t machine
                = mca_coll_pipering_machine_usual((mca_coll_pipering_transport_t) t, beta, most);
            const double *value = machine.value;
            const mca_coll_pipering_cost_t cost = mca_coll_pipering_machine_cost(
                &machine, value[MCA_COLL_PIPERING_NET_BETA], 1);
            char text[TEXT], said[MCA_COLL_PIPERING_MACHINE_SAID];
            machine_t read = garbage();
            mca_coll_pipering_machine_write(&machine, text, sizeof(text));
            tap_try(&sane,
                    mca_coll_pipering_machine_read(&read, text, said) && is_same(&machine, &read)
                        && fabs(1000 * value[MCA_COLL_PIPERING_NET_BETA] - beta) < 1e-6 * beta
                        && fabs(1000 * value[MCA_COLL_PIPERING_NET_BETA_MOST] - most) < 1e-6 * most
                        && (beta < most) == mca_coll_pipering_machine_doubted(&machine)
                        && 0 < cost.net.alpha && 0 < cost.net.gap && cost.net.gap <= cost.net.alpha
                        && 0 < cost.local.alpha && cost.local.alpha <= cost.net.alpha
                        && cost.local.latency <= cost.net.latency && cost.net.overlap
                        && (0 < cost.net.packet) == (0 < cost.net.frame)
                        && 1 == value[MCA_COLL_PIPERING_LOAD]
                        && 0 < mca_coll_pipering_machine_combine(&machine, 1),
                    "transport %d, %u to %u: %s", t, beta, most, text);
            both[t] = machine;
        }
        const mca_coll_pipering_cost_t rdma = mca_coll_pipering_machine_cost(
            &both[MCA_COLL_PIPERING_TRANSPORT_RDMA], 1, 1);
        const mca_coll_pipering_cost_t tcp = mca_coll_pipering_machine_cost(
            &both[MCA_COLL_PIPERING_TRANSPORT_TCP], 1, 1);
        tap_try(&sane,
                rdma.net.alpha < tcp.net.alpha && rdma.net.latency < tcp.net.latency
                    && rdma.net.handshake < tcp.net.handshake && rdma.net.copy < tcp.net.copy,
                "RDMA is not better than TCP");
    }
    tally_ok(&sane, 6000, "usual machines are what they were asked for, and RDMA the better one");
}

/* ---- costs ---- */

/* No cost is below. */
#define LEAST_ALPHA 1e-7
#define LEAST_BETA 1e-12

/* Handling takes so many times as long: all but bytes on the wire and their latency. */
static bool is_crowded(const mca_coll_pipering_cost_t *alone, const mca_coll_pipering_cost_t *crowd,
                       double times)
{
    const double ratio[][3] = {{alone->net.alpha, crowd->net.alpha, LEAST_ALPHA},
                               {alone->net.gap, crowd->net.gap},
                               {alone->net.handshake, crowd->net.handshake},
                               {alone->net.copy, crowd->net.copy},
                               {alone->local.alpha, crowd->local.alpha, LEAST_ALPHA},
                               {alone->local.beta, crowd->local.beta, LEAST_BETA},
                               {alone->local.latency, crowd->local.latency},
                               {alone->local.gap, crowd->local.gap}};
    bool good = alone->net.beta == crowd->net.beta && alone->net.latency == crowd->net.latency
                && alone->net.envelope == crowd->net.envelope
                && alone->net.packet == crowd->net.packet && alone->net.frame == crowd->net.frame
                && alone->net.eager == crowd->net.eager && alone->net.both == crowd->net.both
                && alone->net.overlap == crowd->net.overlap
                && alone->local.overlap == crowd->local.overlap;

    for (size_t i = 0; i < sizeof(ratio) / sizeof(ratio[0]); i++) {
        good = good && fabs(ratio[i][1] - fmax(ratio[i][2], times * ratio[i][0]))
                           <= 1e-12 * ratio[i][1];
    }
    return good;
}

static void test_costs(void)
{
    tap_tally_t units = {0, 0}, load = {0, 0};

    for (int i = 0; i < 2000; i++) {
        machine_t machine = random_machine();
        const double *value = machine.value, beta = random_number();
        const double of = tap_once_in(2) ? tap_between(0, 1) : tap_between(1, 8);
        const double ranks = tap_between(0, 32) / 2.0;
        machine.value[MCA_COLL_PIPERING_LOAD] = 1;
        const mca_coll_pipering_cost_t alone = mca_coll_pipering_machine_cost(&machine, beta, 1);
        const double combine = mca_coll_pipering_machine_combine(&machine, 1);
        tap_try(&units,
                alone.net.alpha == fmax(LEAST_ALPHA, 1e-6 * value[MCA_COLL_PIPERING_NET_ALPHA])
                    && alone.net.beta == fmax(LEAST_BETA, 1e-9 * beta)
                    && alone.net.latency == 1e-6 * value[MCA_COLL_PIPERING_NET_LATENCY]
                    && alone.net.handshake == 1e-6 * value[MCA_COLL_PIPERING_NET_HANDSHAKE]
                    && alone.net.copy == 1e-9 * value[MCA_COLL_PIPERING_NET_COPY]
                    && alone.net.eager == value[MCA_COLL_PIPERING_NET_EAGER]
                    && alone.net.packet == value[MCA_COLL_PIPERING_NET_PACKET]
                    && alone.net.frame == value[MCA_COLL_PIPERING_NET_FRAME]
                    && alone.local.alpha
                           == fmax(LEAST_ALPHA, 1e-6 * value[MCA_COLL_PIPERING_LOCAL_ALPHA])
                    && alone.local.beta
                           == fmax(LEAST_BETA, 1e-9 * value[MCA_COLL_PIPERING_LOCAL_BETA])
                    && alone.local.overlap == (0 < value[MCA_COLL_PIPERING_LOCAL_OVERLAP])
                    && combine == 1e-9 * value[MCA_COLL_PIPERING_COMBINE],
                "alpha %g, beta %g", alone.net.alpha, alone.net.beta);
        machine.value[MCA_COLL_PIPERING_LOAD] = of;
        const mca_coll_pipering_cost_t crowd = mca_coll_pipering_machine_cost(&machine, beta,
                                                                             ranks);
        const double share = fmax(1, ranks) / fmax(1, of), times = fmin(1, share);
        tap_try(&load,
                is_crowded(&alone, &crowd, times) && share == crowd.crowd && 1 == alone.crowd
                    && fabs(mca_coll_pipering_machine_combine(&machine, ranks) - times * combine)
                           <= 1e-12 * times * combine,
                "%g ranks a processor, values of %g", ranks, of);
    }
    tally_ok(&units, 2000, "costs are the values, in seconds");
    tally_ok(&load, 2000, "ranks that share fewer processors are the faster, no wire is, and how "
                          "many share one is there");
}

int main(void)
{
    tap_start();
    test_written();
    test_some();
    test_bad();
    test_names();
    test_usual();
    test_costs();
    return tap_end();
}
