/*
 * The program that testbed.t runs on a testbed.
 *
 *   probe hosts           one line: each rank's host name, in rank order
 *   probe bound           one line: for each rank the processors it may run on, in number
 *   probe share KIND      one line: for each rank the lowest rank that shares its node,
 *                         socket, numa, l3 or core
 *   probe env NAME        one line: each rank's value of NAME, or "-"
 *   probe send BYTES      rank 0 sends so much to rank 1
 *   probe ping BYTES      least time of one way of a ping-pong, in microseconds
 *   probe flows BYTES FROM TO [FROM TO]...
 *                         ranks send so much to ranks, all at the same time; the least time
 *                         of three until all have it, in microseconds
 *   probe exit STATUS     ends with this status
 *   probe hang            rank 1 never takes part in a barrier
 */
#define _GNU_SOURCE
#include <mpi.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define WORD 128

static int rank, size;

static void print_words(const char *word)
{
    char mine[WORD] = "", *all = malloc((size_t) size * WORD);

    snprintf(mine, sizeof(mine), "%s", word);
    MPI_Gather(mine, WORD, MPI_CHAR, all, WORD, MPI_CHAR, 0, MPI_COMM_WORLD);
    for (int i = 0; 0 == rank && i < size; i++) {
        printf("%s%c", all + (size_t) i * WORD, i + 1 < size ? ' ' : '\n');
    }
    free(all);
}

static void print_host(void)
{
    char host[WORD] = "";

    gethostname(host, sizeof(host) - 1);
    print_words(host);
}

static void print_bound(void)
{
    char word[WORD];
    cpu_set_t set;

    CPU_ZERO(&set);
    sched_getaffinity(0, sizeof(set), &set);
    snprintf(word, sizeof(word), "%d", CPU_COUNT(&set));
    print_words(word);
}

/* false: there is no such kind */
static bool print_lowest(const char *name)
{
    static const struct {
        const char *name;
        int type;
    } kinds[] = {{"node", OMPI_COMM_TYPE_NODE},
                 {"socket", OMPI_COMM_TYPE_SOCKET},
                 {"numa", OMPI_COMM_TYPE_NUMA},
                 {"l3", OMPI_COMM_TYPE_L3CACHE},
                 {"core", OMPI_COMM_TYPE_CORE}};
    const size_t count = sizeof(kinds) / sizeof(kinds[0]);
    int lowest = rank;
    size_t kind;
    char word[WORD];
    MPI_Comm comm;

    for (kind = 0; kind < count && 0 != strcmp(name, kinds[kind].name); kind++) {
        continue;
    }
    if (count == kind) {
        return false;
    }
    MPI_Comm_split_type(MPI_COMM_WORLD, kinds[kind].type, rank, MPI_INFO_NULL, &comm);
    MPI_Bcast(&lowest, 1, MPI_INT, 0, comm);
    MPI_Comm_free(&comm);
    snprintf(word, sizeof(word), "%d", lowest);
    print_words(word);
    return true;
}

static void send_bytes(char *buffer, int bytes, int from, int to)
{
    if (from == rank) {
        MPI_Send(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD);
    } else if (to == rank) {
        MPI_Recv(buffer, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

static void print_ping(char *buffer, int bytes)
{
    double least = 1e9;

    for (int i = 0; i < 4; i++) {
        double start = MPI_Wtime(), time;

        send_bytes(buffer, bytes, 0, 1);
        send_bytes(buffer, bytes, 1, 0);
        time = (MPI_Wtime() - start) / 2;
        least = time < least ? time : least;
    }
    if (0 == rank) {
        printf("%.0f\n", 1e6 * least);
    }
}

/* Messages of ranks peers[0], peers[2], ... to ranks peers[1], peers[3], ... */
static void move_flows(char *buffer, int bytes, char **peers, int count)
{
    MPI_Request *requests = malloc((size_t) count * sizeof(MPI_Request));
    int used = 0;

    for (int i = 0; i + 1 < count; i += 2) {
        const int from = atoi(peers[i]), to = atoi(peers[i + 1]);

        if (from == rank) {
            MPI_Isend(buffer, bytes, MPI_CHAR, to, 0, MPI_COMM_WORLD, &requests[used++]);
        }
        if (to == rank) {
            MPI_Irecv(buffer + bytes, bytes, MPI_CHAR, from, 0, MPI_COMM_WORLD, &requests[used++]);
        }
    }
    MPI_Waitall(used, requests, MPI_STATUSES_IGNORE);
    free(requests);
}

static void print_flows(int bytes, char **peers, int count)
{
    char *buffer = calloc(2 * (size_t) bytes + 1, 1);
    double least = 1e9;

    for (int i = 0; i < 3; i++) {
        MPI_Barrier(MPI_COMM_WORLD);
        const double start = MPI_Wtime();

        move_flows(buffer, bytes, peers, count);
        MPI_Barrier(MPI_COMM_WORLD);
        const double time = MPI_Wtime() - start;
        least = time < least ? time : least;
    }
    if (0 == rank) {
        printf("%.0f\n", 1e6 * least);
    }
    free(buffer);
}

int main(int argc, char **argv)
{
    const char *verb, *word;
    char *buffer;
    int number, status = 0;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    verb = argc > 1 ? argv[1] : "";
    word = argc > 2 ? argv[2] : "0";
    number = atoi(word);
    buffer = calloc((size_t) number + 1, 1);

    if (0 == strcmp(verb, "hosts")) {
        print_host();
    } else if (0 == strcmp(verb, "bound")) {
        print_bound();
    } else if (0 == strcmp(verb, "share")) {
        status = print_lowest(word) ? 0 : 2;
    } else if (0 == strcmp(verb, "env")) {
        print_words(getenv(word) ? getenv(word) : "-");
    } else if (0 == strcmp(verb, "send")) {
        send_bytes(buffer, number, 0, 1);
    } else if (0 == strcmp(verb, "ping")) {
        print_ping(buffer, number);
    } else if (0 == strcmp(verb, "flows")) {
        print_flows(number, argv + 3, argc - 3);
    } else if (0 == strcmp(verb, "exit")) {
        status = number;
    } else if (0 == strcmp(verb, "hang")) {
        while (1 == rank) {
            pause();
        }
        MPI_Barrier(MPI_COMM_WORLD);
    } else {
        status = 2;
    }
    free(buffer);
    MPI_Finalize();
    return status;
}
