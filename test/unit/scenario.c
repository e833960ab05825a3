/*
 * Copyright (c) 2026      The pipering authors. All rights reserved.
 *
 * $COPYRIGHT$
 *
 * Additional copyrights may follow
 *
 * $HEADER$
 */

#include "scenario.h"

#include <string.h>

#include "tap.h"

#define BORED 3000 /* turns in which nothing happens */

typedef mca_common_colltools_message_t message_t;
typedef mca_common_colltools_messages_t messages_t;
typedef mca_common_colltools_needs_t needs_t;
typedef mca_common_colltools_schedule_t schedule_t;
typedef scenario_actor_t actor_t;
typedef scenario_place_t place_t;

scenario_t scenario;

void scenario_blame(int rank, const char *what, ...)
{
    char text[150];
    va_list arguments;

    va_start(arguments, what);
    vsnprintf(text, sizeof(text), what, arguments);
    va_end(arguments);
    if ('\0' == scenario.fault[0]) {
        snprintf(scenario.fault, sizeof(scenario.fault), "rank %d: %s", rank, text);
    }
}

/* ---- data ---- */

static unsigned char byte_of(uint64_t key, size_t i)
{
    return (unsigned char) ((key + (uint64_t) scenario.round * 77 + 1) * (2 * i + 3) >> 3);
}

static void write_data(char *data, uint64_t key, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        data[i] = (char) byte_of(key, i);
    }
}

bool scenario_is_data(const char *data, uint64_t key, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        if (data[i] != (char) byte_of(key, i)) {
            return false;
        }
    }
    return true;
}

/* ---- what is over ---- */

static const message_t *message_at(const actor_t *actor, place_t place, uint32_t i)
{
    return RECEIVED == place ? &actor->receives[i]
           : SENT == place   ? &actor->sends[i]
                             : &actor->answers[i];
}

bool scenario_reached(const actor_t *actor, place_t place, uint32_t i,
                      posing_state_t state)
{
    return actor->state[place][i] >= state
           && (SENT != place || NULL == actor->sends[i].answer
               || actor->state[ANSWER][i] >= state);
}

static bool are_over(const actor_t *actor, place_t place, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        if (!scenario_reached(actor, place, i, POSING_COMPLETE)) {
            return false;
        }
    }
    return true;
}

static bool are_met(const actor_t *actor, const needs_t *needs)
{
    return are_over(actor, RECEIVED, needs->receives) && are_over(actor, SENT, needs->sends)
           && needs->steps <= actor->stepped;
}

/* Messages of a list that are under way. */
static uint32_t under_way(const actor_t *actor, place_t place)
{
    uint32_t count = 0;

    for (uint32_t i = 0; i < actor->begun[place]; i++) {
        count += !scenario_reached(actor, place, i, POSING_FREED);
    }
    return count;
}

/*
 * Whether another message of a list may be under way: a window of receives moves on with the
 * oldest of them, one of sends with any.
 */
static bool has_room(const actor_t *actor, place_t place)
{
    const messages_t *list = RECEIVED == place ? &actor->schedule.receives
                                               : &actor->schedule.sends;
    uint32_t pending = 0;

    for (uint32_t i = 0; i < actor->begun[place]; i++) {
        const bool over = scenario_reached(actor, place, i, POSING_COMPLETE);
        pending += !over || (RECEIVED == place && 0 < pending);
    }
    return actor->begun[place] < list->count && pending < list->window;
}

/* ---- looking on ---- */

static void look_at_begin(actor_t *actor, place_t place, uint32_t i)
{
    const messages_t *list = RECEIVED == place ? &actor->schedule.receives
                                               : &actor->schedule.sends;
    const int rank = actor->comm->rank;

    if (i != actor->begun[place]) {
        scenario_blame(rank, "message %u of list %d begins in place of %u", i, place,
                       actor->begun[place]);
    }
    if (!are_met(actor, &list->message[i].needs)) {
        scenario_blame(rank, "message %u of list %d begins before its needs are met", i, place);
    }
    ++actor->begun[place];
    if (under_way(actor, place) > list->window) {
        scenario_blame(rank, "more messages of list %d are under way than its window", place);
    }
}

static void look_at_post(actor_t *actor, const posing_post_t *post, place_t place, uint32_t i)
{
    const message_t *message = message_at(actor, place, i);
    const bool second = SENT == place ? actor->sends[i].receives_first
                                      : ANSWER == place && !actor->sends[i].receives_first;
    const place_t other = SENT == place ? ANSWER : SENT;

    if (POSING_IDLE != actor->state[place][i]) {
        scenario_blame(actor->comm->rank, "a message begins twice");
    }
    if (post->peer != message->peer || post->tag != SCENARIO_TAG || post->bytes != message->bytes
        || post->receive != (SENT != place)
        || post->synchronous != (actor->schedule.synchronous && !post->receive)) {
        scenario_blame(actor->comm->rank, "a message is not as listed");
    }
    if (RECEIVED == place || !second) {
        look_at_begin(actor, RECEIVED == place ? RECEIVED : SENT, i);
    } else if (POSING_COMPLETE > actor->state[other][i]) {
        scenario_blame(actor->comm->rank, "an answer begins before its message is over");
    }
    if (SENT == place && -1 != actor->filler[i]
        && actor->stepped <= (uint32_t) actor->filler[i]) {
        scenario_blame(actor->comm->rank, "data is sent before its step");
    }
}

static posing_state_t *posted(ompi_communicator_t *comm, const posing_post_t *post)
{
    actor_t *actor = &scenario.actor[comm->rank];
    const uint32_t count[PLACES] = {actor->schedule.receives.count, actor->schedule.sends.count,
                                    actor->schedule.sends.count};

    if (actor->over || (!actor->schedule.goes_on && 0 < comm->errors)) {
        scenario_blame(comm->rank, "a message begins after the end, or an error");
    }
    if (comm->posts == comm->refuse && OMPI_SUCCESS == actor->first) {
        actor->first = comm->refusal;
    }
    for (place_t place = RECEIVED; place < PLACES; place++) {
        for (uint32_t i = 0; i < count[place]; i++) {
            if (post->memory == actor->data[place][i]) {
                look_at_post(actor, post, place, i);
                return &actor->state[place][i];
            }
        }
    }
    scenario_blame(comm->rank, "a message is in no list");
    return NULL;
}

/* Whether this rank could begin something, if it only looked. */
static bool could_begin(const actor_t *actor)
{
    const schedule_t *schedule = &actor->schedule;
    const uint32_t r = actor->begun[RECEIVED], s = actor->begun[SENT];

    for (uint32_t i = 0; i < s; i++) {
        const bool first = actor->sends[i].receives_first;
        if (NULL != actor->sends[i].answer
            && POSING_COMPLETE <= actor->state[first ? ANSWER : SENT][i]
            && POSING_IDLE == actor->state[first ? SENT : ANSWER][i]) {
            return true;
        }
    }
    return (has_room(actor, RECEIVED) && are_met(actor, &actor->receives[r].needs))
           || (has_room(actor, SENT) && are_met(actor, &actor->sends[s].needs))
           || (actor->stepped < schedule->steps
               && are_met(actor, &actor->steps[actor->stepped].needs));
}

/* ---- steps ---- */

/* Whether an error has come to the engine that ends the schedule. */
static bool is_stopped(const actor_t *actor)
{
    return !actor->schedule.goes_on && (OMPI_SUCCESS != actor->first || 0 < actor->comm->errors);
}

static int step(void *context, int from, int to)
{
    actor_t *actor = context;
    const int rank = actor->comm->rank;
    const needs_t *needs = &actor->steps[from].needs;

    if (actor->over || is_stopped(actor)) {
        scenario_blame(rank, "a step runs after the end, or an error");
    }
    if ((uint32_t) from != actor->stepped || to != from + rank) {
        scenario_blame(rank, "step %d runs in place of %u", from, actor->stepped);
    }
    if (!are_met(actor, needs)) {
        scenario_blame(rank, "step %d runs before its needs are met", from);
    }
    for (uint32_t i = 0; i < needs->receives; i++) {
        if (!scenario.mangled
            && !scenario_is_data(actor->data[RECEIVED][i], actor->key[RECEIVED][i],
                                 actor->receives[i].bytes)) {
            scenario_blame(rank, "step %d does not find what message %u brought", from, i);
        }
    }
    if (0 < actor->blocks[from]) {
        actor->blocks[from]--;
        actor->blocked = true;
        return OMPI_ERR_WOULD_BLOCK;
    }
    for (uint32_t i = 0; i < actor->schedule.sends.count; i++) {
        if (from == actor->filler[i]) {
            write_data(actor->data[SENT][i], actor->key[SENT][i], actor->sends[i].bytes);
        }
    }
    actor->stepped++;
    if (from == actor->step_fails) {
        if (OMPI_SUCCESS == actor->first) {
            actor->first = actor->failure;
        }
        return actor->failure;
    }
    return OMPI_SUCCESS;
}

/* ---- scenarios ---- */

static uint32_t some(uint32_t most)
{
    return tap_once_in(2) ? 0 : tap_once_in(2) ? most : (uint32_t) tap_below(most + 1);
}

/* Needs of entries before. */
static needs_t random_needs(const actor_t *actor)
{
    const needs_t all = mca_common_colltools_schedule_so_far(&actor->schedule);

    return tap_once_in(4) ? all
                          : (needs_t){some(all.receives), some(all.sends), some(all.steps)};
}

static void fill_message(actor_t *actor, place_t place, uint32_t i, int peer, size_t bytes,
                         uint64_t key)
{
    static ompi_datatype_t words = {.size = 4};
    message_t *message = (message_t *) message_at(actor, place, i);
    const bool by_words = 0 == bytes % 4 && tap_once_in(2);

    actor->data[place][i] = tap_memory(bytes);
    actor->key[place][i] = key;
    *message = (message_t){.buffer = actor->data[place][i],
                           .type = by_words ? &words : MPI_BYTE,
                           .count = by_words ? bytes / 4 : bytes,
                           .bytes = bytes,
                           .peer = peer,
                           .over = tap_once_in(2),     /* of the engine: whatever was there */
                           .answered = tap_once_in(2)};
}

/* The lists have room for one more everywhere. */
static bool has_place(int rank)
{
    const schedule_t *schedule = &scenario.actor[rank].schedule;

    return SCENARIO_ENTRIES > schedule->receives.count && SCENARIO_ENTRIES > schedule->sends.count
           && SCENARIO_ENTRIES > schedule->steps;
}

static void add_send(int from, int to, size_t bytes, uint64_t key, needs_t needs)
{
    actor_t *actor = &scenario.actor[from];
    const uint32_t i = actor->schedule.sends.count++;

    fill_message(actor, SENT, i, to, bytes, key);
    actor->sends[i].needs = needs;
    actor->filler[i] = 0 < needs.steps && tap_once_in(2) ? (int) needs.steps - 1 : -1;
}

static void add_message(int from, int to, uint64_t key)
{
    actor_t *receiver = &scenario.actor[to];
    const size_t bytes = tap_below(SCENARIO_BYTES + 1);
    const needs_t needs[2] = {random_needs(&scenario.actor[from]), random_needs(receiver)};
    const uint32_t i = receiver->schedule.receives.count++;

    fill_message(receiver, RECEIVED, i, from, bytes, key);
    receiver->receives[i].needs = needs[1];
    add_send(from, to, bytes, key, needs[0]);
}

/* One rank sends first, the other receives first. */
static void add_exchange(int a, int b, uint64_t key)
{
    const size_t bytes[2] = {tap_below(SCENARIO_BYTES + 1), tap_below(SCENARIO_BYTES + 1)};
    const int rank[2] = {a, b};

    for (int k = 0; k < 2; k++) {
        actor_t *actor = &scenario.actor[rank[k]];
        const uint32_t i = actor->schedule.sends.count;

        add_send(rank[k], rank[1 - k], bytes[k], key + (uint64_t) k, random_needs(actor));
        fill_message(actor, ANSWER, i, rank[1 - k], bytes[1 - k], key + (uint64_t) (1 - k));
        actor->sends[i].answer = &actor->answers[i];
        actor->sends[i].receives_first = 1 == k;
    }
}

static void add_step(int rank)
{
    actor_t *actor = &scenario.actor[rank];
    const int i = (int) actor->schedule.steps;

    mca_common_colltools_schedule_step(&actor->schedule, step, i, i + rank, random_needs(actor));
}

static void make_actor(int rank, ompi_communicator_t *comm)
{
    actor_t *actor = &scenario.actor[rank];

    memset(actor, 0, sizeof(*actor));
    actor->comm = comm;
    actor->caller = (mca_common_colltools_caller_t){"pipering", "iallgather", comm};
    actor->step_fails = -1;
    actor->schedule = (schedule_t){.caller = &actor->caller,
                                   .tag = SCENARIO_TAG,
                                   .synchronous = tap_once_in(4),
                                   .goes_on = true,
                                   .answers = scenario.answers,
                                   .receives = {.message = actor->receives,
                                                .request = actor->receiving},
                                   .sends = {.message = actor->sends, .request = actor->sending},
                                   .step = actor->steps,
                                   .context = actor};
}

/* Two ranks that exchange have no other messages with each other: all have one tag. */
void scenario_make(uint64_t seed, bool goes_on)
{
    bool used[SCENARIO_RANKS][SCENARIO_RANKS] = {{false}};
    bool exchanged[SCENARIO_RANKS][SCENARIO_RANKS] = {{false}};
    tap_state = seed; /* of this file */
    const int events = tap_between(0, 60);

    scenario.fault[0] = '\0';
    scenario.round = 0;
    scenario.ranks = tap_between(1, SCENARIO_RANKS);
    scenario.answers = goes_on && tap_once_in(2);
    scenario.comm = posing_open(scenario.ranks, tap_random());
    for (int r = 0; r < scenario.ranks; r++) {
        make_actor(r, &scenario.comm[r]);
        scenario.actor[r].schedule.goes_on = goes_on;
    }
    for (int n = 0; n < events; n++) {
        const int a = tap_between(0, scenario.ranks - 1);
        const int b = tap_between(0, scenario.ranks - 1);
        if (!has_place(a) || !has_place(b)) {
            break;
        }
        if (tap_once_in(3)) {
            add_step(a);
        } else if (scenario.answers && a != b && !used[a][b]) {
            add_exchange(a, b, tap_random());
            used[a][b] = used[b][a] = exchanged[a][b] = exchanged[b][a] = true;
        } else if (!exchanged[a][b]) {
            add_message(a, b, tap_random());
            used[a][b] = used[b][a] = true;
        }
    }
    for (int r = 0; r < scenario.ranks; r++) {
        schedule_t *schedule = &scenario.actor[r].schedule;
        schedule->receives.window = 1 + (uint32_t) some(schedule->receives.count);
        schedule->sends.window = 1 + (uint32_t) some(schedule->sends.count);
    }
}

void scenario_free(actor_t *actor)
{
    for (place_t place = RECEIVED; place < PLACES; place++) {
        for (uint32_t i = 0; i < SCENARIO_ENTRIES; i++) {
            free(actor->data[place][i]);
            actor->data[place][i] = NULL;
        }
    }
}

/* ---- running ---- */

static void begin(actor_t *actor)
{
    memset(actor->state, 0, sizeof(actor->state));
    actor->begun[RECEIVED] = actor->begun[SENT] = actor->stepped = 0;
    actor->over = false;
    actor->first = OMPI_SUCCESS;
    actor->comm->errors = 0;
    for (uint32_t i = 0; i < SCENARIO_ENTRIES; i++) {
        actor->blocks[i] = tap_once_in(4) ? tap_between(1, 20) : 0;
        for (place_t place = RECEIVED; place < PLACES; place++) {
            char *data = actor->data[place][i];
            const size_t bytes = message_at(actor, place, i)->bytes;
            if (NULL != data && SENT == place && -1 == actor->filler[i]) {
                write_data(data, actor->key[place][i], bytes);
            } else if (NULL != data) {
                memset(data, 0x55, bytes);
            }
        }
    }
    mca_common_colltools_schedule_begin(&actor->schedule);
}

static bool turn(int rank)
{
    actor_t *actor = &scenario.actor[rank];
    int progress = 0;

    if (actor->over) {
        return false;
    }
    actor->blocked = false;
    actor->over = mca_common_colltools_schedule_move(&actor->schedule, &progress);
    if (!actor->over && !actor->blocked && could_begin(actor)) {
        scenario_blame(rank, "it stops moving, and could begin something");
    }
    return actor->over || 0 < progress;
}

bool scenario_happen(int rank)
{
    const int other = tap_between(0, scenario.ranks - 1);

    return tap_once_in(2) || other == rank ? posing_event(scenario.comm) : turn(other);
}

static int waits, bored;

/* A rank that waits for a request could do nothing before that is complete. */
static void idle(const ompi_request_t *request)
{
    if (NULL != request && could_begin(&scenario.actor[waits])) {
        scenario_blame(waits, "it waits, and could begin something");
    }
    bored = scenario_happen(waits) ? 0 : bored + 1;
    if (100 * BORED < bored) {
        tap_bail("rank %d waits for ever; %s", waits, scenario.fault);
    }
}

void scenario_begin(void)
{
    posing_posted = posted;
    posing_idle = idle;
    for (int r = 0; r < scenario.ranks; r++) {
        scenario.actor[r].over = false;
    }
    for (int r = 0; r < scenario.ranks; r++) {
        begin(&scenario.actor[r]);
    }
}

bool scenario_run(void)
{
    int left = scenario.ranks;

    bored = 0;
    scenario_begin();
    if (scenario.waiting) {
        waits = tap_between(0, scenario.ranks - 1);
        (void) mca_common_colltools_schedule_wait(&scenario.actor[waits].schedule);
        scenario.actor[waits].over = true;
    }
    while (0 < left && BORED > bored) {
        bored = scenario_happen(-1) ? 0 : bored + 1;
        left = 0;
        for (int r = 0; r < scenario.ranks; r++) {
            left += !scenario.actor[r].over;
        }
    }
    return 0 == left;
}
