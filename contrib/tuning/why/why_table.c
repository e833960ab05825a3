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
 * The table of a program's calls (why_table.h).
 */

#include "why_table.h"

#include <string.h>

/* Cuts a text where it is too long; the rest stays zeros. */
static void set_text(char *to, size_t size, const char *text)
{
    const size_t length = strlen(text);

    memcpy(to, text, length < size ? length : size - 1);
}

void why_table_begin(why_table_t *table, const why_owner_t *owner)
{
    table->byte_order = 0x01020304;
    table->places = WHY_PLACES;
    table->job = owner->job;
    table->rank = owner->rank;
    table->world = owner->world;
    table->began = owner->began;
    set_text(table->host, sizeof(table->host), owner->host);
    set_text(table->release, sizeof(table->release), owner->release);
    set_text(table->magic, sizeof(table->magic), WHY_MAGIC);
}

/* 0 of 0; else 1 + the exponent of the largest power of two that is not larger. */
static uint8_t octave_of(uint64_t value)
{
    return (uint8_t) (0 == value ? 0 : 64 - __builtin_clzll(value));
}

why_class_t why_class(const char *call, const char *reason, uint32_t ranks,
                      const why_shape_t *shape)
{
    why_class_t of;

    memset(&of, 0, sizeof(of));
    set_text(of.call, sizeof(of.call), call);
    set_text(of.reason, sizeof(of.reason), reason);
    of.ranks = ranks;
    of.bytes_octave = octave_of(shape->bytes);
    of.largest_octave = octave_of(shape->largest);
    of.contributors_octave = octave_of(shape->contributors);
    of.contiguous = shape->contiguous;
    of.order_matters = shape->order_matters;
    set_text(of.type, sizeof(of.type), shape->type);
    return of;
}

static size_t hash_of(const why_class_t *of)
{
    uint64_t word[sizeof(*of) / sizeof(uint64_t)], hash = 0;

    memcpy(word, of, sizeof(word));
    for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); ++i) {
        hash = (hash ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (size_t) hash;
}

why_record_t *why_find(why_table_t *table, const why_class_t *of)
{
    const size_t hash = hash_of(of);

    for (size_t i = 0; i < WHY_PROBES; ++i) {
        why_record_t *record = &table->record[(hash + i) % WHY_PLACES];
        if (0 == record->calls || 0 == memcmp(&record->of, of, sizeof(*of))) {
            return record;
        }
    }
    return NULL;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void why_add(why_table_t *table, why_record_t *record, const why_class_t *of,
             const why_shape_t *shape, uint64_t time)
{
    if (NULL == record) {
        ++table->calls_without;
        table->time_without += time;
        return;
    }
    if (0 == record->calls) {
        record->of = *of;
        record->least = shape->bytes;
    }
    record->bytes += shape->bytes;
    record->largest += shape->largest;
    record->contributors += shape->contributors;
    record->least = shape->bytes < record->least ? shape->bytes : record->least;
    record->most = larger(record->most, shape->bytes);
    record->time += time;
    record->longest = larger(record->longest, time);
    ++record->calls;
}
