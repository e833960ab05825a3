/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "trial.h"

#include "knob.h"
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static bool judged(exchange_t *x, int code, const char *form, const knob_setting_t *setting)
{
    char fault[sizeof(x->fault)];

    if (MPI_SUCCESS == code && exchange_right(x)) {
        return true;
    }
    memcpy(fault, x->fault, sizeof(fault));
    snprintf(x->fault, sizeof(x->fault), "%s, %s: error %d, %.300s", form, setting->name, code,
             fault);
    return false;
}

/* A forced algorithm serves all calls that have data, whose counter is `calls` before one. */
static bool served(exchange_t *x, uint64_t calls, const char *form, const knob_setting_t *setting)
{
    const bool forced = KNOB_AUTO != setting->algorithm && 1 < x->size && exchange_has_data(x);

    if (!forced || calls + 1 == knob_counter("coll_pipering_calls")) {
        return true;
    }
    snprintf(x->fault, sizeof(x->fault), "%s, %s: another module has served it", form,
             setting->name);
    return false;
}

static bool runs_right(exchange_t *x, const knob_setting_t *setting)
{
    uint64_t calls = knob_counter("coll_pipering_calls");
    int code;

    exchange_reset(x);
    code = exchange_run(x);
    if (!judged(x, code, "blocking", setting) || !served(x, calls, "blocking", setting)) {
        return false;
    }
    calls = knob_counter("coll_pipering_calls");
    exchange_reset(x);
    code = exchange_start(x);
    if (MPI_SUCCESS == code) {
        code = MPI_Wait(&x->request, MPI_STATUS_IGNORE);
    }
    return judged(x, code, "nonblocking", setting) && served(x, calls, "nonblocking", setting);
}

static void trial_from(int first, exchange_t *x, const char *name)
{
    char fault[sizeof(x->fault)] = "";
    bool right = true;

    for (int i = first; i < knob_settings_count(); i++) {
        knob_apply(&knob_settings[i]);
        if (NULL != x && !runs_right(x, &knob_settings[i]) && right) {
            right = false;
            memcpy(fault, x->fault, sizeof(fault));
        }
    }
    tap_check(right, fault, "%s", name);
    exchange_free(x);
}

void trial(exchange_t *x, const char *format, ...)
{
    char name[200];
    va_list values;

    va_start(values, format);
    vsnprintf(name, sizeof(name), format, values);
    va_end(values);
    trial_from(0, x, name);
}

void trial_forced(exchange_t *x, const char *format, ...)
{
    char name[200];
    va_list values;

    va_start(values, format);
    vsnprintf(name, sizeof(name), format, values);
    va_end(values);
    if (1 == knob_settings_count()) {
        tap_skip("Open MPI's own algorithms get this wrong", "%s", name);
        exchange_free(x);
        return;
    }
    trial_from(1, x, name);
}

exchange_spec_t trial_spec(uint64_t key)
{
    exchange_spec_t spec;

    memset(&spec, 0, sizeof(spec));
    spec.comm = MPI_COMM_WORLD;
    spec.key = key;
    return spec;
}

exchange_t *trial_exchange(const exchange_spec_t *spec)
{
    exchange_t *x = exchange_new(spec);

    if (NULL == x) {
        tap_bail("the test is wrong: blocks of %s overlap", spec->recv->text);
    }
    return x;
}

bool trial_may_mismatch(void)
{
    return -1 != knob_get("coll_pipering_priority", -1) || 0 != tap_number("TEST_MISMATCH", 0);
}
