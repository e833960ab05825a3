/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

/** @file Parsing of cells. */

#include "kernel_cell.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES_MOST 2147483647.0 /* counts of MPI are ints */
#define COUNT_MOST 1000000.0

static const char *const kinds[] = {"call", "task", NULL};
static const char *const scopes[] = {"inter", "intra", "rank", NULL};
static const char *const directions[] = {"one", "all", NULL};

typedef enum { WORD, TEXT, NUMBER, WHOLE, CHOICE } value_kind_t;

/* A key, and where its value goes. */
typedef struct {
    const char *name;
    value_kind_t kind;
    void *storage;
    double least, most;
    const char *const *choices;
} entry_t;

/* 8, 1.5, 64K, 1M; false: it is no number. */
static bool parse_number(const char *text, double *number)
{
    static const char suffixes[] = "KMG";
    char *end;
    const char *suffix;

    *number = strtod(text, &end);
    if (end == text || !(0.0 <= *number)) {
        return false;
    }
    suffix = '\0' == *end ? NULL : strchr(suffixes, toupper((unsigned char) *end));
    for (const char *s = suffixes; NULL != suffix && s <= suffix; ++s) {
        *number *= 1024.0;
    }
    return '\0' == *end || (NULL != suffix && '\0' == end[1]);
}

static bool take_choice(const entry_t *key, const char *value, char *error)
{
    int length = snprintf(error, KERNEL_NOTE, "%s=%.40s: expected", key->name, value);

    for (int i = 0; NULL != key->choices[i]; ++i) {
        if (0 == strcmp(key->choices[i], value)) {
            *(int *) key->storage = i;
            return true;
        }
        length += snprintf(error + length, KERNEL_NOTE - (size_t) length, "%s %s",
                           0 == i ? "" : ",", key->choices[i]);
    }
    return false;
}

static bool take_text(const entry_t *key, const char *value, char *error)
{
    const size_t room = WORD == key->kind ? KERNEL_WORD : KERNEL_LINE;

    if ('\0' == *value || strlen(value) >= room) {
        snprintf(error, KERNEL_NOTE, "%s=%.40s: expected a word of 1 to %zu characters",
                 key->name, value, room - 1);
        return false;
    }
    strcpy(key->storage, value);
    return true;
}

static bool take_number(const entry_t *key, const char *value, char *error)
{
    double number;

    if (!parse_number(value, &number) || key->least > number || key->most < number) {
        snprintf(error, KERNEL_NOTE, "%s=%.40s: expected a number from %g to %g", key->name,
                 value, key->least, key->most);
        return false;
    }
    if (NUMBER == key->kind) {
        *(double *) key->storage = number;
    } else {
        *(int *) key->storage = (int) number;
    }
    return true;
}

static bool take(const entry_t *keys, const char *name, const char *value, char *error)
{
    while (NULL != keys->name && 0 != strcmp(keys->name, name)) {
        ++keys;
    }
    if (NULL == keys->name) {
        snprintf(error, KERNEL_NOTE, "%.40s=%.40s: there is no such key", name, value);
        return false;
    }
    if (CHOICE == keys->kind) {
        return take_choice(keys, value, error);
    }
    return (TEXT >= keys->kind ? take_text : take_number)(keys, value, error);
}

/* Cuts the line's copy at blanks and takes each KEY=VALUE. */
static bool take_all(const entry_t *keys, const char *line, char *error)
{
    char copy[KERNEL_LINE], *rest, *word;

    if (strlen(line) >= sizeof(copy)) {
        snprintf(error, KERNEL_NOTE, "a cell has more than %zu characters", sizeof(copy) - 1);
        return false;
    }
    strcpy(copy, line);
    for (word = strtok_r(copy, " \t\r\n", &rest); NULL != word;
         word = strtok_r(NULL, " \t\r\n", &rest)) {
        char *value = strchr(word, '=');

        if (NULL == value) {
            snprintf(error, KERNEL_NOTE, "expected KEY=VALUE where \"%.40s\" stands", word);
            return false;
        }
        *value++ = '\0';
        if (!take(keys, word, value, error)) {
            return false;
        }
    }
    return true;
}

static bool check(const kernel_cell_t *cell, double bytes, char *error)
{
    const char *missing = '\0' == *cell->id                 ? "cell"
                          : 0 > cell->problem.kind          ? "kind"
                          : '\0' == *cell->problem.name     ? "collective or task"
                          : 0.0 > bytes                     ? "total or bytes"
                                                            : NULL;

    if (NULL != missing) {
        snprintf(error, KERNEL_NOTE, "a cell without %s", missing);
    }
    return NULL == missing;
}

bool kernel_cell_parse(kernel_cell_t *cell, const char *line, char error[KERNEL_NOTE])
{
    kernel_problem_t *problem = &cell->problem;
    double bytes = -1.0;
    const entry_t keys[] = {{"cell", WORD, cell->id, 0, 0, NULL},
                           {"kind", CHOICE, &problem->kind, 0, 0, kinds},
                           {"collective", WORD, problem->name, 0, 0, NULL},
                           {"task", WORD, problem->name, 0, 0, NULL},
                           {"dist", WORD, problem->dist, 0, 0, NULL},
                           {"type", WORD, problem->type, 0, 0, NULL},
                           {"scope", CHOICE, &problem->scope, 0, 0, scopes},
                           {"direction", CHOICE, &problem->direction, 0, 0, directions},
                           {"total", NUMBER, &bytes, 1.0, BYTES_MOST, NULL},
                           {"bytes", NUMBER, &bytes, 0.0, BYTES_MOST, NULL},
                           {"set", TEXT, cell->settings, 0, 0, NULL},
                           {"reps", WHOLE, &cell->reps, 1.0, COUNT_MOST, NULL},
                           {"warmup", WHOLE, &cell->warmup, 0.0, COUNT_MOST, NULL},
                           {"budget", NUMBER, &cell->budget, 0.0, COUNT_MOST, NULL},
                           {NULL, WORD, NULL, 0, 0, NULL}};

    memset(cell, 0, sizeof(*cell));
    strcpy(problem->type, "auto");
    problem->kind = -1;
    cell->reps = 7;
    cell->warmup = 1;
    if (!take_all(keys, line, error) || !check(cell, bytes, error)) {
        return false;
    }
    problem->bytes = (size_t) bytes;
    return true;
}

int kernel_order(int turn, int place, int count)
{
    return (turn / 2 + (0 == turn % 2 ? place : count - 1 - place)) % count;
}
