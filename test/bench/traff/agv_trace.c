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
 * Samples the byte counters of the node's network devices while calls run. It
 * shows communication and idle time of any algorithm alike, since nothing in
 * the algorithm takes part. Use it with one rank a node. Each rank writes
 * FILE.RANK: "sample SECONDS RECEIVED SENT" and "call DIST TOTAL ARM START END".
 */

#include "agv.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#define PAUSE 2000000 /* nanoseconds */

static FILE *file;
static pthread_t sampler;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static bool stop;

/* Of all processes of a host alike, unlike MPI_Wtime. */
static double now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double) time.tv_sec + 1e-9 * (double) time.tv_nsec;
}

/* Sums up all devices but the loopback. */
static bool read_counters(unsigned long long *received, unsigned long long *sent)
{
    FILE *devices = fopen("/proc/self/net/dev", "r");
    char line[512];

    *received = *sent = 0;
    if (NULL == devices) {
        return false;
    }
    while (NULL != fgets(line, sizeof(line), devices)) {
        unsigned long long in, out;
        char *colon = strchr(line, ':');

        if (NULL != colon && NULL == strstr(line, "lo:")
            && 2 == sscanf(colon + 1, "%llu %*u %*u %*u %*u %*u %*u %*u %llu", &in, &out)) {
            *received += in;
            *sent += out;
        }
    }
    fclose(devices);
    return true;
}

static void *sample(void *unused)
{
    const struct timespec pause = {0, PAUSE};
    unsigned long long received, sent;
    bool last = false;

    (void) unused;
    while (!last && read_counters(&received, &sent)) {
        pthread_mutex_lock(&lock);
        fprintf(file, "sample %.6f %llu %llu\n", now(), received, sent);
        last = stop;
        pthread_mutex_unlock(&lock);
        nanosleep(&pause, NULL);
    }
    return NULL;
}

bool agv_trace_start(const char *name, int rank)
{
    char path[4096];

    snprintf(path, sizeof(path), "%s.%d", name, rank);
    file = fopen(path, "w");
    if (NULL != file && 0 != pthread_create(&sampler, NULL, sample, NULL)) {
        fclose(file);
        file = NULL;
    }
    return NULL != file;
}

void agv_trace_call(const char *dist, size_t total, const char *arm, double start, double end)
{
    double shift = now() - MPI_Wtime();

    if (NULL != file) {
        pthread_mutex_lock(&lock);
        fprintf(file, "call %s %zu %s %.6f %.6f\n", dist, total, arm, start + shift, end + shift);
        pthread_mutex_unlock(&lock);
    }
}

void agv_trace_stop(void)
{
    if (NULL != file) {
        pthread_mutex_lock(&lock);
        stop = true;
        pthread_mutex_unlock(&lock);
        pthread_join(sampler, NULL);
        fclose(file);
        file = NULL;
    }
}
