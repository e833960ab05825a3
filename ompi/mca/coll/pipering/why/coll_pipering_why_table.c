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
 * The table of a program's calls (coll_pipering_why_table.h).
 */

#include "coll_pipering_why_table.h"

#include <string.h>

/* Cuts a text where it is too long; the rest stays zeros. */
static void set_text(char *to, size_t size, const char *text)
{
    const size_t length = strlen(text);

    memcpy(to, text, length < size ? length : size - 1);
}

void mca_coll_pipering_why_table_begin(mca_coll_pipering_why_table_t *table,
                                       const mca_coll_pipering_why_owner_t *owner)
{
    table->byte_order = 0x01020304;
    table->header_size = (uint32_t) offsetof(mca_coll_pipering_why_table_t, record);
    table->record_size = (uint32_t) sizeof(table->record[0]);
    table->places = MCA_COLL_PIPERING_WHY_PLACES;
    table->job = owner->job;
    table->rank = owner->rank;
    table->world = owner->world;
    table->began = owner->began;
    set_text(table->host, sizeof(table->host), owner->host);
    set_text(table->release, sizeof(table->release), owner->release);
    set_text(table->magic, sizeof(table->magic), MCA_COLL_PIPERING_WHY_MAGIC);
}

/* 0 of 0; else 1 + the exponent of the largest power of two that is not larger. */
static uint8_t octave_of(uint64_t value)
{
    return (uint8_t) (0 == value ? 0 : 64 - __builtin_clzll(value));
}

mca_coll_pipering_why_class_t
mca_coll_pipering_why_class(const char *call, const char *server, const char *reason,
                            uint32_t ranks, const mca_coll_pipering_why_shape_t *shape)
{
    mca_coll_pipering_why_class_t of;

    memset(&of, 0, sizeof(of));
    set_text(of.call, sizeof(of.call), call);
    set_text(of.server, sizeof(of.server), server);
    set_text(of.reason, sizeof(of.reason), reason);
    of.ranks = ranks;
    of.bytes_octave = octave_of(shape->bytes);
    of.largest_octave = octave_of(shape->largest);
    of.contributors_octave = octave_of(shape->contributors);
    of.contiguous = shape->contiguous;
    of.order_matters = shape->order_matters;
    if (NULL != shape->type) {
        set_text(of.type, sizeof(of.type), shape->type);
    }
    return of;
}

static size_t hash_of(const mca_coll_pipering_why_class_t *of)
{
    uint64_t word[sizeof(*of) / sizeof(uint64_t)], hash = 0;

    memcpy(word, of, sizeof(word));
    for (size_t i = 0; i < sizeof(word) / sizeof(word[0]); ++i) {
        hash = (hash ^ word[i]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 32;
    }
    return (size_t) hash;
}

mca_coll_pipering_why_record_t *
mca_coll_pipering_why_find(mca_coll_pipering_why_table_t *table,
                           const mca_coll_pipering_why_class_t *of)
{
    const size_t hash = hash_of(of);

    for (size_t i = 0; i < MCA_COLL_PIPERING_WHY_PROBES; ++i) {
        mca_coll_pipering_why_record_t *record
            = &table->record[(hash + i) % MCA_COLL_PIPERING_WHY_PLACES];
        if (0 == record->calls || 0 == memcmp(&record->of, of, sizeof(*of))) {
            return record;
        }
    }
    return NULL;
}

static uint64_t lesser(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

void mca_coll_pipering_why_add(mca_coll_pipering_why_table_t *table,
                               mca_coll_pipering_why_record_t *record,
                               const mca_coll_pipering_why_class_t *of,
                               const mca_coll_pipering_why_shape_t *shape, uint64_t time)
{
    if (NULL == record) {
        ++table->calls_without;
        table->time_without += time;
        return;
    }
    if (0 == record->calls) {
        record->of = *of;
        record->least = shape->bytes;
        record->shortest = time;
    }
    record->bytes += shape->bytes;
    record->largest += shape->largest;
    record->contributors += shape->contributors;
    record->least = lesser(record->least, shape->bytes);
    record->most = larger(record->most, shape->bytes);
    record->time += time;
    record->shortest = lesser(record->shortest, time);
    record->longest = larger(record->longest, time);
    ++record->calls;
}

void mca_coll_pipering_why_foresee(mca_coll_pipering_why_record_t *record, double forecast,
                                   double rival, const char *algorithm)
{
    record->forecast = forecast;
    record->rival = rival;
    memset(record->algorithm, 0, sizeof(record->algorithm));
    set_text(record->algorithm, sizeof(record->algorithm), algorithm);
}
