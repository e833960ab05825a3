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
 * The words of adapters, in the order of trust:
 *
 *     the BTLs of pml/ob1      their bandwidth, which btl/tcp has from the interface
 *     InfiniBand, RoCE         /sys/class/infiniband/DEVICE/ports/PORT/rate
 *     network interfaces       /sys/class/net/INTERFACE/speed, of those that are hardware
 *     none of them             10 Gbit/s as a bound
 *
 * An interface is hardware if the system knows its device. Virtual ones (veth, bridges, bonds)
 * state a speed that need not be true.
 */

#include "coll_pipering_adapters.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/mca/pml/base/base.h"
#include "opal/mca/btl/base/base.h"

/* In Mbit/s: what is assumed of a silent adapter, and what a virtual one may have at least. */
#define SILENT 10000
#define SLOWEST 100

/* What btl/tcp states where the system does not know an interface's speed, as of virtio. */
#define TCP_SILENT 100

/* Bytes of pml/ob1's longest header, for which an eager message must leave room. */
#define OB1_HEADER 80

/* Longest path below /sys that is read. */
#define PATH 512

static uint32_t beta_of(double mbits)
{
    return (uint32_t) (8e6 / mbits);
}

static mca_coll_pipering_word_t word_of(double mbits, bool bound,
                                        mca_coll_pipering_transport_t transport)
{
    return (mca_coll_pipering_word_t){
        .beta = beta_of(mbits), .bound = bound, .transport = (uint32_t) transport};
}

/* Neither of two words counts if the other one is of a slower link. */
void mca_coll_pipering_word_merge(mca_coll_pipering_word_t *word,
                                  const mca_coll_pipering_word_t *other)
{
    word->beta = other->beta > word->beta ? other->beta : word->beta;
    word->bound |= other->bound;
    word->eager = other->eager < word->eager ? other->eager : word->eager;
    word->transport = other->transport > word->transport ? other->transport : word->transport;
}

mca_coll_pipering_machine_t mca_coll_pipering_word_machine(const mca_coll_pipering_word_t *word)
{
    const uint32_t slow = beta_of(SLOWEST);
    mca_coll_pipering_machine_t machine = mca_coll_pipering_machine_usual(
        (mca_coll_pipering_transport_t) word->transport, word->beta,
        0 != word->bound && slow > word->beta ? slow : word->beta);

    if (0 < word->eager) {
        machine.value[MCA_COLL_PIPERING_NET_EAGER] = word->eager;
    }
    return machine;
}

/* ---- files of the system ---- */

/* The first line of a file without its end, or "". */
static void read_line(const char *path, char *line, size_t size)
{
    FILE *in = fopen(path, "r");

    line[0] = '\0';
    if (NULL != in) {
        if (NULL != fgets(line, (int) size, in)) {
            line[strcspn(line, "\n")] = '\0';
        }
        (void) fclose(in);
    }
}

/* The path of a file below an entry of a directory, "" if it is too long. */
static void find_path(char path[PATH], const char *directory, const char *name, const char *rest)
{
    if (PATH <= snprintf(path, PATH, "%s/%s/%s", directory, name, rest)) {
        path[0] = '\0';
    }
}

static double read_number(const char *directory, const char *name, const char *rest)
{
    char path[PATH], line[64];

    find_path(path, directory, name, rest);
    read_line(path, line, sizeof(line));
    return atof(line);
}

static bool is_hardware(const char *interface)
{
    char path[PATH];

    (void) snprintf(path, sizeof(path), "/sys/class/net/%s/device", interface);
    return 0 == access(path, F_OK);
}

/* Calls `look` for each entry of a directory that does not begin with a dot. */
static void look_into(const char *path, void (*look)(const char *directory, const char *name,
                                                     void *found), void *found)
{
    DIR *directory = opendir(path);
    const struct dirent *entry;

    while (NULL != directory && NULL != (entry = readdir(directory))) {
        if ('.' != entry->d_name[0]) {
            look(path, entry->d_name, found);
        }
    }
    if (NULL != directory) {
        (void) closedir(directory);
    }
}

/* The least of the rates of ports with a link, in Mbit/s; 0: there is none yet. */
static void note(double mbits, double *slowest)
{
    if (0 < mbits && (0 == *slowest || mbits < *slowest)) {
        *slowest = mbits;
    }
}

static void look_at_port(const char *directory, const char *name, void *found)
{
    char path[PATH], state[64];

    find_path(path, directory, name, "state");
    read_line(path, state, sizeof(state));
    if (NULL != strstr(state, "ACTIVE")) {
        note(1000 * read_number(directory, name, "rate"), found);
    }
}

static void look_at_device(const char *directory, const char *name, void *found)
{
    char path[PATH];

    find_path(path, directory, name, "ports");
    look_into(path, look_at_port, found);
}

static void look_at_interface(const char *directory, const char *name, void *found)
{
    if (is_hardware(name)) {
        note(read_number(directory, name, "speed"), found);
    }
}

/* An interface that is hardware has this speed. */
typedef struct {
    double mbits;
    bool found;
} match_t;

static void compare_interface(const char *directory, const char *name, void *found)
{
    match_t *match = found;

    match->found |= is_hardware(name) && match->mbits == read_number(directory, name, "speed");
}

static mca_coll_pipering_word_t ask_system(void)
{
    double mbits = 0;

    look_into("/sys/class/infiniband", look_at_device, &mbits);
    if (0 < mbits) {
        return word_of(mbits, false, MCA_COLL_PIPERING_TRANSPORT_RDMA);
    }
    look_into("/sys/class/net", look_at_interface, &mbits);
    return 0 < mbits ? word_of(mbits, false, MCA_COLL_PIPERING_TRANSPORT_TCP)
                     : word_of(SILENT, true, MCA_COLL_PIPERING_TRANSPORT_TCP);
}

/* ---- the BTLs of pml/ob1 ---- */

static bool is_between_nodes(const char *name)
{
    static const char *const inside[] = {"self", "sm", "vader", "smcuda"};

    for (size_t i = 0; i < sizeof(inside) / sizeof(inside[0]); ++i) {
        if (0 == strcmp(inside[i], name)) {
            return false;
        }
    }
    return true;
}

static mca_coll_pipering_word_t ask_btl(const mca_btl_base_selected_module_t *selected)
{
    const mca_btl_base_module_t *btl = selected->btl_module;
    const bool tcp = 0 == strcmp("tcp", selected->btl_component->btl_version.mca_component_name);
    match_t match = {.mbits = btl->btl_bandwidth};

    if (tcp) {
        look_into("/sys/class/net", compare_interface, &match);
    }
    const bool virtual = tcp && !match.found;
    const bool silent = 0 == btl->btl_bandwidth || (virtual && TCP_SILENT >= btl->btl_bandwidth);
    mca_coll_pipering_word_t word
        = word_of(silent ? SILENT : btl->btl_bandwidth, silent || virtual,
                  tcp ? MCA_COLL_PIPERING_TRANSPORT_TCP : MCA_COLL_PIPERING_TRANSPORT_RDMA);
    word.eager = OB1_HEADER < btl->btl_eager_limit
                     ? (uint32_t) (btl->btl_eager_limit - OB1_HEADER)
                     : 0;
    return word;
}

/* False: there is none between nodes. */
static bool ask_btls(mca_coll_pipering_word_t *word)
{
    mca_btl_base_selected_module_t *selected;
    bool found = false;

    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized,
                      mca_btl_base_selected_module_t) {
        if (is_between_nodes(selected->btl_component->btl_version.mca_component_name)) {
            const mca_coll_pipering_word_t its = ask_btl(selected);
            if (found) {
                mca_coll_pipering_word_merge(word, &its);
            } else {
                *word = its;
            }
            found = true;
        }
    }
    return found;
}

mca_coll_pipering_word_t mca_coll_pipering_adapters_word(void)
{
    mca_coll_pipering_word_t word;

    return 0 == strcmp("ob1", mca_pml_base_selected_component.pmlm_version.mca_component_name)
                   && ask_btls(&word)
               ? word
               : ask_system();
}

/* ---- processors ---- */

/* How many a list such as 0-3,8 has. */
static int count_list(const char *list)
{
    int count = 0;

    while ('\0' != *list) {
        char *end;
        const long first = strtol(list, &end, 10);
        const long last = '-' == *end ? strtol(end + 1, &end, 10) : first;
        if (end == list) {
            return 0;
        }
        count += (int) (last - first + 1);
        list = ',' == *end ? end + 1 : end;
    }
    return count;
}

/*
 * Those of the control group, which a container or a batch system has set: unlike the processors
 * that a process is bound to, they are those of all processes of the job.
 */
double mca_coll_pipering_processors(void)
{
    const long online = sysconf(_SC_NPROCESSORS_ONLN);
    char group[PATH - 64], path[PATH], list[4096];

    read_line("/proc/self/cgroup", group, sizeof(group));
    if (0 == strncmp("0::", group, 3)) {
        (void) snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpuset.cpus.effective", group + 3);
        read_line(path, list, sizeof(list));
        const int count = count_list(list);
        if (0 < count && count < online) {
            return count;
        }
    }
    return 0 < online ? (double) online : 1;
}
