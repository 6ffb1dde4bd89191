// SPDX-License-Identifier: Apache-2.0
//
// The limit of a round trip: two processes that pass one byte back and forth and sleep in between, as both ends of a link
// do. Neither encrypts, frames or allocates, so no link between two processes has shorter round trips on this machine.
//
//   Wakeup ROUNDS
//
// The parent runs on the first core that it may use, the child on the last. "read" sleeps in read(2), "epoll" in
// epoll_wait(2), and "eventfd" has a second thread of the same process at the other end.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long rounds;
static int first_core, last_core;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void stay_on(int core) {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *times) {
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    printf("{\"what\": \"%s\", \"value\": %.2f, \"unit\": \"us\"}\n", what, times[rounds / 2] * 1e6);
}

static void await(int epoll, int fd, void *into, size_t count) {
    struct epoll_event event;
    if (epoll >= 0 && epoll_wait(epoll, &event, 1, -1) != 1) exit(1);
    if (read(fd, into, count) != (ssize_t)count) exit(1);
}

static int watch(int fd, bool polls) {
    if (!polls) return -1;
    int epoll = epoll_create1(0);
    struct epoll_event interest = { .events = EPOLLIN };
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest);
    return epoll;
}

static void between_processes(const char *what, bool polls, double *times) {
    int ends[2];
    char byte = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) exit(1);
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        stay_on(last_core);
        int epoll = watch(ends[1], polls);
        for (long i = 0; i < rounds; i++) {
            await(epoll, ends[1], &byte, 1);
            if (write(ends[1], &byte, 1) != 1) exit(1);
        }
        _exit(0);
    }
    stay_on(first_core);
    int epoll = watch(ends[0], polls), status;
    for (long i = 0; i < rounds; i++) {
        double start = now();
        if (write(ends[0], &byte, 1) != 1) exit(1);
        await(epoll, ends[0], &byte, 1);
        times[i] = now() - start;
    }
    if (waitpid(child, &status, 0) != child || status) exit(1);
    close(ends[0]), close(ends[1]);
    report(what, times);
}

static int bells[2];

static void *answer(void *unused) {
    uint64_t count = 1;
    stay_on(last_core);
    for (long i = 0; i < rounds; i++) {
        await(-1, bells[0], &count, sizeof count);
        if (write(bells[1], &count, sizeof count) != sizeof count) exit(1);
    }
    return unused;
}

static void between_threads(double *times) {
    pthread_t thread;
    uint64_t count = 1;
    for (int i = 0; i < 2; i++) bells[i] = eventfd(0, 0);
    if (pthread_create(&thread, NULL, answer, NULL)) exit(1);
    for (long i = 0; i < rounds; i++) {
        double start = now();
        if (write(bells[0], &count, sizeof count) != sizeof count) exit(1);
        await(-1, bells[1], &count, sizeof count);
        times[i] = now() - start;
    }
    pthread_join(thread, NULL);
    report("round trip between threads, eventfd", times);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    double *times = calloc((size_t)(rounds > 0 ? rounds : 1), sizeof *times);
    cpu_set_t set;
    if (rounds < 1 || !times || sched_getaffinity(0, sizeof set, &set)) return 64;
    alarm(60);
    first_core = -1;
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &set)) last_core = core, first_core = first_core < 0 ? core : first_core;
    between_processes("round trip between processes, read", false, times);
    between_processes("round trip between processes, epoll", true, times);
    between_threads(times);
    free(times);
    return 0;
}
