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
 * Settings: variables of the component and costs of the machine, by their names.
 */

#include "predict.h"

#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

bool predict_refuse(const char *format, ...)
{
    va_list arguments;

    (void) fputs("pipering-predict: ", stderr);
    va_start(arguments, format);
    (void) vfprintf(stderr, format, arguments);
    va_end(arguments);
    (void) fputs("; nothing was predicted\n", stderr);
    return false;
}

/* ---- values ---- */

/* Variables of the component that no plan of a call depends on, without coll_pipering_. */
static const char others[]
    = "priority verbose backing_directory ring_buffer_budget mesh machine processors "
      "fixed_point_sum barrier_algorithm alltoall_algorithm alltoallv_algorithm "
      "alltoallw_algorithm neighbor_alltoallw_algorithm alltoall_small alltoall_in_place "
      "alltoall_window";

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The place of a word in a list of words; -1: it is not there. */
static int find_word(const char *list, const char *word)
{
    const size_t length = strlen(word);

    for (int i = 0; 0 < length && '\0' != *list; ++i) {
        const size_t next = strcspn(list, " ");
        if (next == length && 0 == strncmp(list, word, length)) {
            return i;
        }
        list += next + (' ' == list[next]);
    }
    return -1;
}

/* What a unit behind a number stands for, k, m or g with b or ib behind it; 0: it is none. */
static double scale_of(const char *unit)
{
    static const char *const words[] = {"", "k kb kib", "m mb mib", "g gb gib"};
    char word[4] = "";

    for (size_t i = 0; sizeof(word) - 1 > i && '\0' != unit[i]; ++i) {
        word[i] = (char) tolower((unsigned char) unit[i]);
    }
    for (int i = 1; i < (int) COUNT(words) && sizeof(word) > strlen(unit); ++i) {
        if (0 <= find_word(words[i], word)) {
            return (double) (1 << 10 * i);
        }
    }
    return '\0' == *unit;
}

/* A whole number as Open MPI reads it: octal behind 0, hexadecimal behind 0x, with a unit. */
static bool to_whole(const char *value, double *number)
{
    char *end;

    errno = 0;
    *number = (double) strtoll(value, &end, 0);
    const double scale = scale_of(end);
    *number *= scale;
    return end != value && 0 == errno && 0 < scale;
}

/* A value of a choice by its name or number; -1: it has none such. */
static int to_choice(const mca_common_colltools_value_t *values, const char *value)
{
    char *end;
    const long number = strtol(value, &end, 10);
    const bool is_number = end != value && '\0' == *end;

    for (; NULL != values->name; ++values) {
        if (0 == strcmp(value, values->name) || (is_number && number == values->value)) {
            return values->value;
        }
    }
    return -1;
}

static bool refuse_choice(const mca_common_colltools_value_t *values, const char *where,
                          const char *name, const char *value)
{
    char legal[256] = "";

    for (; NULL != values->name; ++values) {
        (void) strncat(legal, " ", sizeof(legal) - strlen(legal) - 1);
        (void) strncat(legal, values->name, sizeof(legal) - strlen(legal) - 1);
    }
    return predict_refuse("%s: %s is \"%s\", expected one of:%s", where, name, value, legal);
}

/* Sets a variable that plans depend on: a choice, or a number without a sign. */
static bool set(const mca_common_colltools_variable_t *row, const char *where, const char *name,
                const char *value)
{
    double number;

    if (MCA_COMMON_COLLTOOLS_CHOICE == row->kind) {
        const int choice = to_choice(row->values, value);
        *(int *) row->storage = 0 > choice ? *(int *) row->storage : choice;
        return 0 <= choice || refuse_choice(row->values, where, name, value);
    }
    if (!to_whole(value, &number) || 0 > number || row->most < number) {
        return predict_refuse("%s: %s is \"%s\", expected a whole number, 0 to %.10g (%s)", where,
                              name, value, row->most, row->unit);
    }
    *(size_t *) row->storage = (size_t) number;
    return true;
}

static const mca_common_colltools_variable_t *find(const char *name)
{
    for (int i = 0; i < MCA_COLL_PIPERING_PARAMS; ++i) {
        if (0 == strcmp(mca_coll_pipering_variables[i].name, name)) {
            return &mca_coll_pipering_variables[i];
        }
    }
    return NULL;
}

/* ---- algorithms ---- */

const char *predict_collective_name(mca_coll_pipering_collective_t collective)
{
    return mca_coll_pipering_collective_row(collective)->name[MCA_COLL_PIPERING_BLOCKING];
}

int predict_find_collective(const char *name)
{
    for (int i = 0; i < MCA_COLL_PIPERING_COLLECTIVES; ++i) {
        if (0 == strcmp(name, predict_collective_name((mca_coll_pipering_collective_t) i))) {
            return i;
        }
    }
    return -1;
}

/* The collective whose algorithm a variable is; -1: it is another variable. */
static int algorithm_of(const char *name)
{
    const size_t length = strcspn(name, "_");
    char collective[32];

    if (0 != strcmp(name + length, "_algorithm") || sizeof(collective) <= length) {
        return -1;
    }
    memcpy(collective, name, length);
    collective[length] = '\0';
    return predict_find_collective(collective);
}

static bool set_algorithm(predict_t *predict, const char *where, const char *name, int collective,
                          const char *value)
{
    const mca_coll_pipering_row_t *row = NULL;
    char values[256] = "auto";
    int *place = &predict->algorithm[collective];

    if (0 == strcmp(value, "auto") || 0 == strcmp(value, "off")) {
        *place = 'a' == *value ? MCA_COLL_PIPERING_AUTO : MCA_COLL_PIPERING_OFF;
        return true;
    }
    while (NULL != (row = mca_coll_pipering_next_row((mca_coll_pipering_collective_t) collective,
                                                     row))) {
        if (0 == strcmp(value, row->value)) {
            *place = (int) row->algorithm;
            return true;
        }
        (void) strncat(values, ", ", sizeof(values) - strlen(values) - 1);
        (void) strncat(values, row->value, sizeof(values) - strlen(values) - 1);
    }
    return predict_refuse("%s: %s is \"%s\", expected one of: %s, off", where, name, value, values);
}

/* ---- by name ---- */

#define PREFIX "coll_pipering_"

bool predict_set_variable(predict_t *predict, const char *where, const char *name,
                          const char *value)
{
    const size_t length = strlen(PREFIX);

    if (0 == strncmp(name, PREFIX, length)) {
        const char *rest = name + length;
        const mca_common_colltools_variable_t *row = find(rest);
        const int collective = algorithm_of(rest);
        if (NULL != row) {
            return set(row, where, name, value);
        }
        if (0 <= collective) {
            return set_algorithm(predict, where, name, collective, value);
        }
    }
    return predict_refuse("%s: %s is no variable that a plan depends on; ompi_info --param coll "
                          "pipering --level 9 lists those of the component", where, name);
}

/* A line of a file, in which settings of whatever plans do not depend on may stand too. */
static bool set_listed(predict_t *predict, const char *where, const char *name, const char *value)
{
    const size_t length = strlen(PREFIX);

    return 0 != strncmp(name, PREFIX, length) || 0 <= find_word(others, name + length)
           || predict_set_variable(predict, where, name, value);
}

bool predict_set_machine(predict_t *predict, const char *where, const char *text)
{
    char said[MCA_COLL_PIPERING_MACHINE_SAID];

    return mca_coll_pipering_machine_read(&predict->machine.of, text, said)
           || predict_refuse("%s, %s", where, said);
}

void predict_list_machine(FILE *out)
{
    for (int i = 0; NULL != mca_coll_pipering_machine_name(i); ++i) {
        (void) fprintf(out, "    %-20s %s\n", mca_coll_pipering_machine_name(i),
                       mca_coll_pipering_machine_unit(i));
    }
}

/* ---- files ---- */

static char *trim(char *text)
{
    char *end = text + strlen(text);

    while (isspace((unsigned char) *text)) {
        ++text;
    }
    while (end > text && isspace((unsigned char) end[-1])) {
        *--end = '\0';
    }
    return text;
}

/* Name and value of a line; false: there are none. `*name` NULL: the line is neither. */
static bool split_line(char *line, char **name, char **value)
{
    static const char listed[] = "mca:coll:pipering:param:";
    char *text = trim(line), *sign;

    if (0 == strncmp(text, "mca:", 4)) { /* ompi_info --parsable */
        char *key = text + sizeof(listed) - 1;
        sign = strstr(text, ":value:");
        if (0 != strncmp(text, listed, sizeof(listed) - 1) || NULL == sign) {
            return false;
        }
        *sign = '\0';
        *name = key;
        *value = sign + strlen(":value:");
        return NULL == strchr(key, ':'); /* a value that an enumeration has */
    }
    if ('\0' == *text || '#' == *text) {
        return false;
    }
    sign = strchr(text, '=');
    *name = NULL;
    if (NULL != sign) {
        *sign = '\0';
        *name = trim(text);
        *value = trim(sign + 1);
    }
    return true;
}

static bool read_lines(predict_t *predict, FILE *in, const char *path)
{
    char line[65536], where[512], *name, *value;

    for (int number = 1; NULL != fgets(line, sizeof(line), in); ++number) {
        (void) snprintf(where, sizeof(where), "%s, line %d", path, number);
        if (!split_line(line, &name, &value)) {
            continue;
        }
        if (NULL == name) {
            return predict_refuse("%s: expected \"name = value\"", where);
        }
        if (!set_listed(predict, where, name, value)) {
            return false;
        }
    }
    return 0 == ferror(in) || predict_refuse("%s: %s", path, strerror(errno));
}

bool predict_read_variables(predict_t *predict, const char *path)
{
    FILE *in = fopen(path, "r");

    if (NULL == in) {
        return predict_refuse("%s: %s", path, strerror(errno));
    }
    const bool good = read_lines(predict, in, path);
    (void) fclose(in);
    return good;
}

bool predict_read_machine(predict_t *predict, const char *path)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");

    if (NULL == in) {
        return predict_refuse("%s: %s", path, strerror(errno));
    }
    text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
    const bool failed = 0 != ferror(in);
    (void) fclose(in);
    if (failed) {
        return predict_refuse("%s: %s", path, strerror(errno));
    }
    (void) snprintf(predict->machine.name, sizeof(predict->machine.name), "%s", path);
    return predict_set_machine(predict, path, text);
}

/* ---- defaults ---- */

/* Of Gigabit Ethernet, in picoseconds a byte. */
#define USUAL_BETA 8000

void predict_defaults(predict_t *predict)
{
    *predict = (predict_t){.call = {.ppn = 1, .type = ""},
                           .execute = -1,
                           .machine = {.of = mca_coll_pipering_machine_usual(
                                           MCA_COLL_PIPERING_TRANSPORT_TCP, USUAL_BETA,
                                           USUAL_BETA),
                                       .below = MCA_COLL_PIPERING_BELOW_HAN}};
    mca_coll_pipering_given = mca_coll_pipering_params_preset();
}
