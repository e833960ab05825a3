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
 * The machine: its values by name, and the usual ones where nobody has measured.
 *
 *     net_alpha     net_beta ... net_beta_most     what a block, and a byte, take between nodes
 *                       |             |
 *                       +------+------+
 *                              |
 *                       choices hold for both ends, since the true rate is somewhere between
 *
 * Limits: one value for all links, that of the slowest.
 *
 * All arithmetic is of +, -, x, / and comparisons, so that processors of different kinds agree.
 */

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coll_pipering_plan_machine.h"
#include "ompi/mca/common/colltools/common_colltools_array.h"
#include "ompi/mca/common/colltools/common_colltools_file.h"

#define TIME_MOST 1e6
#define BYTES_MOST ((double) (1 << 30))

static const struct {
    const char *name, *unit; /* unit: or words that stand for 0 and 1 */
    double most;
    bool words;
} values[MCA_COLL_PIPERING_MACHINE_VALUES] = {
    [MCA_COLL_PIPERING_NET_ALPHA] = {"net_alpha", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_BETA] = {"net_beta", "nanoseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_BETA_MOST] = {"net_beta_most", "nanoseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_LATENCY] = {"net_latency", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_GAP] = {"net_gap", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_OVERLAP] = {"net_overlap", "false true", 1, true},
    [MCA_COLL_PIPERING_NET_ENVELOPE] = {"net_envelope", "bytes", BYTES_MOST, false},
    [MCA_COLL_PIPERING_NET_PACKET] = {"net_packet", "bytes", BYTES_MOST, false},
    [MCA_COLL_PIPERING_NET_FRAME] = {"net_frame", "bytes", BYTES_MOST, false},
    [MCA_COLL_PIPERING_NET_EAGER] = {"net_eager", "bytes", BYTES_MOST, false},
    [MCA_COLL_PIPERING_NET_HANDSHAKE] = {"net_handshake", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_COPY] = {"net_copy", "nanoseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_BOTH] = {"net_both", "times", 100, false},
    [MCA_COLL_PIPERING_NET_FAR] = {"net_far", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_NET_UPLINKS] = {"net_uplinks", "links", 1e6, false},
    [MCA_COLL_PIPERING_LOCAL_ALPHA] = {"local_alpha", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_LOCAL_BETA] = {"local_beta", "nanoseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_LOCAL_LATENCY] = {"local_latency", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_LOCAL_GAP] = {"local_gap", "microseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_LOCAL_OVERLAP] = {"local_overlap", "false true", 1, true},
    [MCA_COLL_PIPERING_COMBINE] = {"combine", "nanoseconds", TIME_MOST, false},
    [MCA_COLL_PIPERING_LOAD] = {"ranks_per_processor", "ranks", TIME_MOST, false}};

/* ---- usual machines ---- */

/* Slower links count as Ethernet with packets of 1448 bytes, whose frames no adapter hides. */
#define PACKET_BETA 5

static const mca_coll_pipering_machine_t usual[MCA_COLL_PIPERING_TRANSPORTS] = {
    [MCA_COLL_PIPERING_TRANSPORT_RDMA] = {.value = {[MCA_COLL_PIPERING_NET_ALPHA] = 1,
                                                    [MCA_COLL_PIPERING_NET_LATENCY] = 1.5,
                                                    [MCA_COLL_PIPERING_NET_GAP] = 0.25,
                                                    [MCA_COLL_PIPERING_NET_EAGER] = 8192,
                                                    [MCA_COLL_PIPERING_NET_HANDSHAKE] = 4}},
    [MCA_COLL_PIPERING_TRANSPORT_TCP] = {.value = {[MCA_COLL_PIPERING_NET_ALPHA] = 8,
                                                   [MCA_COLL_PIPERING_NET_LATENCY] = 5,
                                                   [MCA_COLL_PIPERING_NET_GAP] = 2,
                                                   [MCA_COLL_PIPERING_NET_EAGER] = 16128,
                                                   [MCA_COLL_PIPERING_NET_HANDSHAKE] = 26,
                                                   [MCA_COLL_PIPERING_NET_COPY] = 0.35,
                                                   [MCA_COLL_PIPERING_NET_BOTH] = 1}},
    [MCA_COLL_PIPERING_TRANSPORT_TCP_SHARED]
    = {.value = {[MCA_COLL_PIPERING_NET_ALPHA] = 20,
                 [MCA_COLL_PIPERING_NET_LATENCY] = 15,
                 [MCA_COLL_PIPERING_NET_GAP] = 5,
                 [MCA_COLL_PIPERING_NET_EAGER] = 16128,
                 [MCA_COLL_PIPERING_NET_HANDSHAKE] = 80,
                 [MCA_COLL_PIPERING_NET_COPY] = 1.2,
                 [MCA_COLL_PIPERING_NET_BOTH] = 1.8}}};

mca_coll_pipering_machine_t mca_coll_pipering_machine_usual(mca_coll_pipering_transport_t transport,
                                                            uint32_t beta, uint32_t beta_most)
{
    mca_coll_pipering_machine_t machine = usual[transport];
    double *value = machine.value;

    value[MCA_COLL_PIPERING_NET_BETA] = beta / 1000.0;
    value[MCA_COLL_PIPERING_NET_BETA_MOST] = beta_most / 1000.0;
    value[MCA_COLL_PIPERING_NET_OVERLAP] = 1;
    value[MCA_COLL_PIPERING_NET_ENVELOPE] = 32;
    if (PACKET_BETA < value[MCA_COLL_PIPERING_NET_BETA_MOST]) {
        value[MCA_COLL_PIPERING_NET_PACKET] = 1448;
        value[MCA_COLL_PIPERING_NET_FRAME] = 66;
    }
    value[MCA_COLL_PIPERING_LOCAL_ALPHA] = 1;
    value[MCA_COLL_PIPERING_LOCAL_BETA] = 0.3;
    value[MCA_COLL_PIPERING_LOCAL_LATENCY] = 1;
    value[MCA_COLL_PIPERING_LOCAL_GAP] = 1;
    value[MCA_COLL_PIPERING_LOCAL_OVERLAP] = 1;
    value[MCA_COLL_PIPERING_COMBINE] = 0.2;
    value[MCA_COLL_PIPERING_LOAD] = 1;
    return machine;
}

/* ---- text ---- */

const char *mca_coll_pipering_machine_name(int value)
{
    return 0 <= value && MCA_COLL_PIPERING_MACHINE_VALUES > value ? values[value].name : NULL;
}

const char *mca_coll_pipering_machine_unit(int value)
{
    return values[value].unit;
}

static int find_value(const char *name, size_t length)
{
    for (int i = 0; i < MCA_COLL_PIPERING_MACHINE_VALUES; ++i) {
        if (length == strlen(values[i].name) && 0 == strncmp(values[i].name, name, length)) {
            return i;
        }
    }
    return -1;
}

/*
 * Puts one decimal point in the place of another, for which the text has room. Files, lines and
 * hashes have a dot, whatever the locale that the program of a rank has set.
 */
static void exchange_point(char *text, const char *old, const char *new)
{
    char *point = strstr(text, old);

    if (NULL != point) {
        const char *rest = point + strlen(old);
        (void) memmove(point + strlen(new), rest, strlen(rest) + 1);
        (void) memcpy(point, new, strlen(new));
    }
}

static bool parse(int value, const char *text, size_t length, double *number)
{
    const char *point = localeconv()->decimal_point;
    char copy[64], *end;

    if (values[value].words) {
        *number = 4 == length && 0 == strncmp("true", text, 4);
        return 0 < *number || (5 == length && 0 == strncmp("false", text, 5));
    }
    if (0 == length || sizeof(copy) <= length + strlen(point)) {
        return false;
    }
    memcpy(copy, text, length);
    copy[length] = '\0';
    if (0 != strcmp(".", point) && NULL != strstr(copy, point)) {
        return false;
    }
    exchange_point(copy, ".", point);
    *number = strtod(copy, &end);
    return '\0' == *end && 0 <= *number && values[value].most >= *number;
}

static const char *skip_blanks(const char *text)
{
    return text + strspn(text, " \t\r");
}

/* No more of a name than leaves room for the rest of what is said. */
#define NAME_SAID 40

/* Says that there is no such value, and which there are. */
static void say_names(int line, const char *name, size_t length,
                      char said[MCA_COLL_PIPERING_MACHINE_SAID])
{
    const int some = NAME_SAID > length ? (int) length : NAME_SAID;
    size_t end = (size_t) snprintf(said, MCA_COLL_PIPERING_MACHINE_SAID,
                                   "line %d: \"%.*s\" is no cost of a machine, expected one of:",
                                   line, some, name);

    for (int i = 0; i < MCA_COLL_PIPERING_MACHINE_VALUES && MCA_COLL_PIPERING_MACHINE_SAID > end;
         ++i) {
        end += (size_t) snprintf(said + end, MCA_COLL_PIPERING_MACHINE_SAID - end, " %s",
                                 values[i].name);
    }
}

/* Sets one value and steps behind it; which one it is, -1: `said` says what is wrong. */
static int read_value(mca_coll_pipering_machine_t *machine, const char **text, int line,
                      char said[MCA_COLL_PIPERING_MACHINE_SAID])
{
    const char *name = *text;
    const size_t name_length = strcspn(name, " \t\r\n=#");
    const char *sign = skip_blanks(name + name_length);
    const char *word = '=' == *sign ? skip_blanks(sign + 1) : sign;
    const size_t length = strcspn(word, " \t\r\n#");
    const int value = find_value(name, name_length);
    double number;

    if ('=' != *sign) {
        (void) snprintf(said, MCA_COLL_PIPERING_MACHINE_SAID,
                        "line %d: \"%.*s\": expected \"name = value\"", line,
                        NAME_SAID > name_length ? (int) name_length : NAME_SAID, name);
        return -1;
    }
    if (0 > value) {
        say_names(line, name, name_length, said);
        return -1;
    }
    if (!parse(value, word, length, &number)) {
        (void) snprintf(said, MCA_COLL_PIPERING_MACHINE_SAID,
                        values[value].words ? "line %d: %s is \"%.*s\", expected one of: %s"
                                            : "line %d: %s is \"%.*s\", expected %s, 0 to %.10g",
                        line, values[value].name,
                        NAME_SAID > length ? (int) length : NAME_SAID, word,
                        mca_coll_pipering_machine_unit(value), values[value].most);
        return -1;
    }
    machine->value[value] = number;
    *text = word + length;
    return value;
}

bool mca_coll_pipering_machine_read(mca_coll_pipering_machine_t *machine, const char *text,
                                    char said[MCA_COLL_PIPERING_MACHINE_SAID])
{
    double *value = machine->value;
    bool named[MCA_COLL_PIPERING_MACHINE_VALUES] = {false};
    int line = 1;

    for (text = skip_blanks(text); '\0' != *text; text = skip_blanks(text)) {
        if ('\n' == *text) {
            ++line;
            ++text;
        } else if ('#' == *text) {
            text += strcspn(text, "\n");
        } else {
            const int of = read_value(machine, &text, line, said);
            if (0 > of) {
                mca_common_colltools_make_printable(said);
                return false;
            }
            named[of] = true;
        }
    }
    /* a rate that stands alone is known */
    if ((named[MCA_COLL_PIPERING_NET_BETA] && !named[MCA_COLL_PIPERING_NET_BETA_MOST])
        || value[MCA_COLL_PIPERING_NET_BETA_MOST] < value[MCA_COLL_PIPERING_NET_BETA]) {
        value[MCA_COLL_PIPERING_NET_BETA_MOST] = value[MCA_COLL_PIPERING_NET_BETA];
    }
    return true;
}

/* With as few digits as read_value needs to find the same number. */
static void write_number(double number, char *text, size_t size)
{
    int digits = 15;

    do {
        (void) snprintf(text, size, "%.*g", digits, number);
    } while (17 >= ++digits && number != strtod(text, NULL));
    exchange_point(text, localeconv()->decimal_point, ".");
}

void mca_coll_pipering_machine_write(const mca_coll_pipering_machine_t *machine, char *text,
                                     size_t size)
{
    char word[64];
    size_t length = 0;

    text[0] = '\0';
    for (int i = 0; i < MCA_COLL_PIPERING_MACHINE_VALUES && length < size; ++i) {
        if (values[i].words) {
            strcpy(word, 0 < machine->value[i] ? "true" : "false");
        } else {
            write_number(machine->value[i], word, sizeof(word));
        }
        length += (size_t) snprintf(text + length, size - length, "%s%s=%s", 0 == i ? "" : " ",
                                    values[i].name, word);
    }
}

uint32_t mca_coll_pipering_machine_hash(const mca_coll_pipering_machine_t *machine)
{
    char text[2048];

    mca_coll_pipering_machine_write(machine, text, sizeof(text));
    const uint32_t hash = mca_common_colltools_hash(MCA_COMMON_COLLTOOLS_HASH, text, strlen(text));
    return 0 == hash ? 1 : hash;
}

/* ---- costs ---- */

bool mca_coll_pipering_machine_doubted(const mca_coll_pipering_machine_t *machine)
{
    return machine->value[MCA_COLL_PIPERING_NET_BETA]
           < machine->value[MCA_COLL_PIPERING_NET_BETA_MOST];
}

/* Ranks a processor, for each of those that the values of the machine hold for. */
static double crowd_of(const mca_coll_pipering_machine_t *machine, double load)
{
    return fmax(1, load) / fmax(1, machine->value[MCA_COLL_PIPERING_LOAD]);
}

/* The least costs, so that none is zero. */
#define LEAST_ALPHA 1e-7
#define LEAST_BETA 1e-12

mca_coll_pipering_cost_t mca_coll_pipering_machine_cost(const mca_coll_pipering_machine_t *machine,
                                                        double beta, double load)
{
    const double *value = machine->value, crowd = crowd_of(machine, load);
    const double times = fmin(1, crowd), us = 1e-6 * times, ns = 1e-9;

    return (mca_coll_pipering_cost_t){
        .net = {.alpha = fmax(LEAST_ALPHA, us * value[MCA_COLL_PIPERING_NET_ALPHA]),
                .beta = fmax(LEAST_BETA, ns * beta),
                .latency = 1e-6 * value[MCA_COLL_PIPERING_NET_LATENCY],
                .gap = us * value[MCA_COLL_PIPERING_NET_GAP],
                .overlap = 0 < value[MCA_COLL_PIPERING_NET_OVERLAP],
                .envelope = value[MCA_COLL_PIPERING_NET_ENVELOPE],
                .packet = value[MCA_COLL_PIPERING_NET_PACKET],
                .frame = value[MCA_COLL_PIPERING_NET_FRAME],
                .eager = value[MCA_COLL_PIPERING_NET_EAGER],
                .handshake = us * value[MCA_COLL_PIPERING_NET_HANDSHAKE],
                .copy = ns * times * value[MCA_COLL_PIPERING_NET_COPY],
                .both = value[MCA_COLL_PIPERING_NET_BOTH]},
        .far = 1e-6 * fmax(value[MCA_COLL_PIPERING_NET_LATENCY], value[MCA_COLL_PIPERING_NET_FAR]),
        .uplinks = value[MCA_COLL_PIPERING_NET_UPLINKS],
        .local = {.alpha = fmax(LEAST_ALPHA, us * value[MCA_COLL_PIPERING_LOCAL_ALPHA]),
                  .beta = fmax(LEAST_BETA, ns * times * value[MCA_COLL_PIPERING_LOCAL_BETA]),
                  .latency = us * value[MCA_COLL_PIPERING_LOCAL_LATENCY],
                  .gap = us * value[MCA_COLL_PIPERING_LOCAL_GAP],
                  .overlap = 0 < value[MCA_COLL_PIPERING_LOCAL_OVERLAP]},
        .crowd = crowd};
}

double mca_coll_pipering_machine_combine(const mca_coll_pipering_machine_t *machine, double load)
{
    return 1e-9 * fmin(1, crowd_of(machine, load)) * machine->value[MCA_COLL_PIPERING_COMBINE];
}
