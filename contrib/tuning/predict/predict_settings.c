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

void *predict_memory(size_t bytes)
{
    void *memory = malloc(bytes);

    if (NULL == memory) {
        (void) predict_refuse("there is no memory for %zu bytes", bytes);
        exit(2);
    }
    return memory;
}

/* ---- values ---- */

/* As Open MPI reads it: octal behind 0, hexadecimal behind 0x, k, m or g, with b or ib, behind. */
bool predict_read_number(const char *text, double *number)
{
    static const char units[] = "kmg";
    char *end;

    errno = 0;
    *number = (double) strtoll(text, &end, 0);
    const char *unit = '\0' == *end ? NULL : strchr(units, tolower((unsigned char) *end));
    if (end == text || 0 != errno) {
        return false;
    }
    if (NULL != unit) {
        *number *= 1 << 10 * (unit - units + 1);
        ++end;
        end += 'i' == tolower((unsigned char) *end) && 'b' == tolower((unsigned char) end[1]);
        end += 'b' == tolower((unsigned char) *end);
    }
    return '\0' == *end;
}

bool predict_set_choice(const mca_common_colltools_value_t *values, const char *where,
                        const char *name, const char *value, int *choice)
{
    char *end, legal[256] = "";
    const long number = strtol(value, &end, 10);
    const bool is_number = end != value && '\0' == *end;

    for (; NULL != values->name; ++values) {
        if (0 == strcmp(value, values->name) || (is_number && number == values->value)) {
            *choice = values->value;
            return true;
        }
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
        return predict_set_choice(row->values, where, name, value, row->storage);
    }
    if (!predict_read_number(value, &number) || 0 > number || row->most < number) {
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
    char variable[64];
    int i = MCA_COLL_PIPERING_COLLECTIVES - 1;

    for (; 0 <= i; --i) {
        (void) snprintf(variable, sizeof(variable), "%s_algorithm",
                        predict_collective_name((mca_coll_pipering_collective_t) i));
        if (0 == strcmp(name, variable)
            && i == (int) mca_coll_pipering_variable_of((mca_coll_pipering_collective_t) i)) {
            break;
        }
    }
    return i;
}

static bool set_algorithm(predict_t *predict, const char *where, const char *name, int collective,
                          const char *value)
{
    mca_common_colltools_value_t values[PREDICT_OUTCOMES + 3]
        = {{MCA_COLL_PIPERING_AUTO, "auto"}, {MCA_COLL_PIPERING_OFF, "off"}};
    const mca_coll_pipering_row_t *row = NULL;

    for (int i = 2; NULL != (row = mca_coll_pipering_next_row(
                                 (mca_coll_pipering_collective_t) collective, row)); ++i) {
        values[i] = (mca_common_colltools_value_t){(int) row->algorithm, row->value};
    }
    return predict_set_choice(values, where, name, value, &predict->algorithm[collective]);
}

/* ---- by name ---- */

#define PREFIX "coll_pipering_"

bool predict_set_variable(predict_t *predict, const char *where, const char *name,
                          const char *value, bool must_be)
{
    if (0 == strncmp(name, PREFIX, strlen(PREFIX))) {
        const char *rest = name + strlen(PREFIX);
        const mca_common_colltools_variable_t *row = find(rest);
        const int collective = algorithm_of(rest);
        if (NULL != row) {
            return set(row, where, name, value);
        }
        if (0 <= collective) {
            return set_algorithm(predict, where, name, collective, value);
        }
    }
    return !must_be
           || predict_refuse("%s: %s is no variable that a plan depends on; ompi_info --param coll "
                             "pipering --level 9 lists those of the component", where, name);
}

bool predict_set_machine(predict_t *predict, const char *where, const char *text)
{
    char said[MCA_COLL_PIPERING_MACHINE_SAID];

    return mca_coll_pipering_machine_read(&predict->machine.of, text, said)
           || predict_refuse("%s: %s", where, said);
}

/* ---- files ---- */

/* The text of a file, until the next one is read; NULL: that is said. */
static char *read_file(const char *option, const char *path)
{
    static char text[1 << 20];
    FILE *in = fopen(path, "r");

    if (NULL != in) {
        text[fread(text, 1, sizeof(text) - 1, in)] = '\0';
        const bool failed = 0 != ferror(in);
        (void) fclose(in);
        if (!failed) {
            return text;
        }
    }
    (void) predict_refuse("%s %s: %s", option, path, strerror(errno));
    return NULL;
}

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

static bool set_line(predict_t *predict, const char *where, char *line)
{
    char *name = trim(line), *sign = strchr(name, '=');

    if ('\0' == *name || '#' == *name) {
        return true;
    }
    if (NULL == sign) {
        return predict_refuse("%s: expected \"name = value\"", where);
    }
    *sign = '\0';
    return predict_set_variable(predict, where, trim(name), trim(sign + 1), false);
}

bool predict_read_variables(predict_t *predict, const char *option, const char *path)
{
    char *line = read_file(option, path), *next, where[512];
    bool good = NULL != line;

    for (int number = 1; good && NULL != line; ++number, line = next) {
        next = strchr(line, '\n');
        if (NULL != next) {
            *next++ = '\0';
        }
        (void) snprintf(where, sizeof(where), "%s, line %d", path, number);
        good = set_line(predict, where, line);
    }
    return good;
}

bool predict_read_machine(predict_t *predict, const char *option, const char *path)
{
    const char *text = read_file(option, path);

    (void) snprintf(predict->machine.name, sizeof(predict->machine.name), "%s", path);
    return NULL != text && predict_set_machine(predict, path, text);
}

/* ---- defaults ---- */

/* Of Gigabit Ethernet, in picoseconds a byte. */
#define USUAL_BETA 8000

void predict_defaults(predict_t *predict)
{
    *predict = (predict_t){.call = {.ppn = 1, .type = ""},
                           .machine = {.of = mca_coll_pipering_machine_usual(
                                           MCA_COLL_PIPERING_TRANSPORT_TCP, USUAL_BETA,
                                           USUAL_BETA),
                                       .below = MCA_COLL_PIPERING_BELOW_HAN}};
    mca_coll_pipering_given = mca_coll_pipering_params_preset();
}
