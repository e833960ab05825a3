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
 * The links of a process, the slowest of
 *
 *     InfiniBand, RoCE         /sys/class/infiniband/DEVICE/ports/PORT/rate
 *     network interfaces       /sys/class/net/INTERFACE/speed, of those that are up, are not
 *                              excluded from btl/tcp, and are hardware; of virtual ones, where
 *                              there are no others
 *     none of them             10 Gbit/s as a bound
 *
 * An interface is hardware if the system knows its device. Virtual ones (veth, bridges, bonds)
 * state a speed that need not be true.
 */

#include "coll_pipering_adapters.h"

#include <glob.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ompi/mca/common/colltools/common_colltools_file.h"
#include "ompi/mca/pml/base/base.h"
#include "opal/mca/base/mca_base_var.h"
#include "opal/mca/btl/base/base.h"
#include "opal/util/if.h"

/* In Mbit/s: what is assumed of a silent adapter, and what a virtual one may have at least. */
#define SILENT 10000
#define SLOWEST 100

/* Bytes of pml/ob1's longest header, for which an eager message must leave room. */
#define OB1_HEADER 80

/* Longest path below /sys that is read. */
#define PATH 512

static uint32_t beta_of(double mbits)
{
    return (uint32_t) (8e6 / mbits);
}

/* The larger of two rates a byte, of which 0 is the largest. */
static uint32_t slower(uint32_t a, uint32_t b)
{
    return 0 == a || 0 == b ? 0 : a > b ? a : b;
}

void mca_coll_pipering_links_merge(mca_common_colltools_links_t *links,
                                   const mca_common_colltools_links_t *other)
{
    links->beta = slower(links->beta, other->beta);
    links->bound |= other->bound;
}

mca_coll_pipering_machine_t
mca_coll_pipering_links_machine(const mca_common_colltools_links_t *links,
                                mca_coll_pipering_transport_t transport, uint32_t eager)
{
    const uint32_t slow = beta_of(SLOWEST);
    mca_coll_pipering_machine_t machine = mca_coll_pipering_machine_usual(
        transport, links->beta, 0 != links->bound && slow > links->beta ? slow : links->beta);

    if (0 < eager) {
        machine.value[MCA_COLL_PIPERING_NET_EAGER] = eager;
    }
    return machine;
}

/* ---- files of the system ---- */

/* The first line of a file, "" if its path is too long. */
static void read_below(const char *directory, const char *name, char *line, size_t size)
{
    char path[PATH];

    line[0] = '\0';
    if (PATH > snprintf(path, PATH, "%s/%s", directory, name)) {
        mca_common_colltools_read_line(path, line, size);
    }
}

/* The least of the rates of links, in Mbit/s; 0: there is none yet. */
static void note(double mbits, double *slowest)
{
    if (0 < mbits && (0 == *slowest || mbits < *slowest)) {
        *slowest = mbits;
    }
}

static mca_common_colltools_links_t ask_devices(void)
{
    double mbits = 0;
    glob_t ports;

    if (0 == glob("/sys/class/infiniband/*/ports/*", 0, NULL, &ports)) {
        for (size_t i = 0; i < ports.gl_pathc; ++i) {
            char state[64], rate[64];
            read_below(ports.gl_pathv[i], "state", state, sizeof(state));
            read_below(ports.gl_pathv[i], "rate", rate, sizeof(rate));
            note(NULL != strstr(state, "ACTIVE") ? 1000 * atof(rate) : 0, &mbits);
        }
        globfree(&ports);
    }
    return (mca_common_colltools_links_t){.beta = 0 < mbits ? beta_of(mbits) : 0};
}

/* ---- network interfaces ---- */

/* The value of a variable of btl/tcp; NULL: it is not there. */
static const void *tcp_variable(const char *name)
{
    const int variable = mca_base_var_find("opal", "btl", "tcp", name);
    const void *value = NULL;

    return 0 <= variable && OPAL_SUCCESS == mca_base_var_get_value(variable, &value, NULL, NULL)
               ? value
               : NULL;
}

/* Whether one of a list of names and networks is that of an interface. */
static bool is_listed(const char *list, int interface)
{
    bool listed = false;

    while (NULL != list && '\0' != *list && !listed) {
        char word[IF_NAMESIZE + 64] = "", *nets[] = {word, NULL};
        const size_t length = strcspn(list, ",");
        if (0 < length && sizeof(word) > length) {
            memcpy(word, list, length);
            listed = OPAL_SUCCESS == opal_ifmatches(interface, nets);
        }
        list += length + (',' == list[length]);
    }
    return listed;
}

/* Whether btl/tcp may use an interface; where there is no such BTL nothing is excluded. */
static bool is_allowed(int index)
{
    const char *const *include = tcp_variable("if_include"), *const *exclude;
    const int interface = opal_ifindextokindex(index);
    uint32_t flags = 0;

    if (OPAL_SUCCESS != opal_ifindextoflags(index, &flags) || 0 == (IFF_UP & flags)
        || opal_ifisloopback(index)) {
        return false;
    }
    if (NULL != include && NULL != *include && '\0' != **include) {
        return is_listed(*include, interface);
    }
    exclude = tcp_variable("if_exclude");
    return NULL == exclude || !is_listed(*exclude, interface);
}

/*
 * An interface that counts instead of those of the other kind before it, or beside those of its
 * own.
 */
static void add_interface(const char *name, mca_common_colltools_links_t *links)
{
    char folder[PATH], device[PATH], speed[64];

    (void) snprintf(folder, sizeof(folder), "/sys/class/net/%s", name);
    (void) snprintf(device, sizeof(device), "/sys/class/net/%s/device", name);
    read_below(folder, "speed", speed, sizeof(speed));
    const bool virtual = 0 != access(device, F_OK);
    const double mbits = atof(speed);
    const mca_common_colltools_links_t its = {.beta = beta_of(0 < mbits ? mbits : SILENT),
                                              .bound = virtual || 0 >= mbits};

    if (0 == links->beta || (1 == links->bound && 0 == its.bound)) {
        *links = its;
    } else if (links->bound == its.bound) {
        mca_coll_pipering_links_merge(links, &its);
    }
}

static mca_common_colltools_links_t ask_interfaces(void)
{
    mca_common_colltools_links_t links = {.beta = 0};
    char name[IF_NAMESIZE];

    for (int i = opal_ifbegin(); 0 <= i; i = opal_ifnext(i)) {
        if (is_allowed(i) && OPAL_SUCCESS == opal_ifindextoname(i, name, sizeof(name))) {
            add_interface(name, &links);
        }
    }
    return 0 < links.beta ? links
                          : (mca_common_colltools_links_t){.beta = beta_of(SILENT), .bound = 1};
}

/* ---- all of them ---- */

void mca_coll_pipering_adapters_ask(mca_common_colltools_facts_t *facts)
{
    const size_t *eager = tcp_variable("eager_limit");

    facts->rdma = ask_devices();
    facts->tcp = ask_interfaces();
    facts->eager = NULL != eager && OB1_HEADER < *eager ? (uint32_t) (*eager - OB1_HEADER) : 0;
}

bool mca_coll_pipering_adapters_are_btls(void)
{
    return 0 == strcmp("ob1", mca_pml_base_selected_component.pmlm_version.mca_component_name);
}

/* Names of BTLs that are not of such adapters. */
static const char *const others[] = {"self", "sm", "vader", "smcuda", "tcp"};

static bool is_other(const char *name)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); ++i) {
        if (0 == strcmp(others[i], name)) {
            return true;
        }
    }
    return false;
}

bool mca_coll_pipering_adapters_are_used(void)
{
    mca_btl_base_selected_module_t *selected;
    bool used = false;

    if (!mca_coll_pipering_adapters_are_btls()) {
        return true; /* and there may be no list of BTLs */
    }
    OPAL_LIST_FOREACH(selected, &mca_btl_base_modules_initialized,
                      mca_btl_base_selected_module_t) {
        used |= !is_other(selected->btl_component->btl_version.mca_component_name);
    }
    return used;
}
