// SPDX-License-Identifier: Apache-2.0
//
// The price of much code in a round trip: as in Wakeup.c, two processes pass one byte back and forth, on one core, but before
// each end passes it on it runs through code that does nothing: one jump in each cache line, from line to line. 320 lines in 5
// pages fit into the fastest cache; 1,680 in 240 pages are about what one message of the Swift library touches at each end, of
// which a third is libssl. "Again" runs through them a second time at once, when they are as near as they can be.
//
//   ColdCode ROUNDS
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#ifdef __aarch64__
#define JUMP "b"
#else
#define JUMP "jmp"
#endif
// Pages are 4,160 bytes apart, so that they also differ in their sets of the cache.
__asm__(".text\n.balign 4096\nfew:\n.rept 319\n" JUMP " .+64\n.balign 64\n.endr\nret\n"
        ".balign 4096\nmany:\n.rept 240\n.rept 6\n" JUMP " .+64\n.balign 64\n.endr\n"
        JUMP " .+3776\n.balign 64\n.skip 3712\n.endr\nret\n"
        ".balign 4096\nnone: ret\n");
void few(void), many(void), none(void);

static long rounds;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(const char *what, double *times) {
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    printf("{\"what\": \"%s\", \"value\": %.2f, \"unit\": \"us\"}\n", what, times[rounds / 2]);
}

static void wait_for(int epoll, int fd) {
    struct epoll_event event;
    char byte;
    if (epoll_wait(epoll, &event, 1, -1) != 1 || read(fd, &byte, 1) != 1) exit(1);
}

static int watch(int fd) {
    int epoll = epoll_create1(0);
    struct epoll_event interest = { .events = EPOLLIN };
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &interest);
    return epoll;
}

static void pass(const char *what, void (*code)(void), int times_each, double *times) {
    int ends[2], status;
    char byte = 0;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends)) exit(1);
    fflush(stdout);
    pid_t child = fork();
    int end = ends[child ? 0 : 1], epoll = watch(end);
    for (long i = 0; i < rounds; i++) {
        double start = now();
        if (!child) wait_for(epoll, end);
        for (int k = 0; k < times_each; k++) code();
        if (write(end, &byte, 1) != 1) exit(1);
        if (child) wait_for(epoll, end);
        times[i] = now() - start;
    }
    if (!child) _exit(0);
    if (waitpid(child, &status, 0) != child || status) exit(1);
    close(ends[0]), close(ends[1]), close(epoll);
    report(what, times);
}

int main(int argc, char **argv) {
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    double *times = calloc((size_t)(rounds > 0 ? rounds : 1), sizeof *times);
    cpu_set_t set;
    if (rounds < 1 || !times || sched_getaffinity(0, sizeof set, &set)) return 64;
    // Both processes on one core, so that each finds in its caches what the other has left there.
    int core = 0;
    while (!CPU_ISSET(core, &set)) core++;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
    alarm(60);
    pass("round trip, no code", none, 1, times);
    pass("round trip, 320 lines of code in 5 pages at each end", few, 1, times);
    pass("round trip, 1,680 lines of code in 240 pages at each end", many, 1, times);
    pass("round trip, 1,680 lines of code in 240 pages at each end, again", many, 2, times);
    free(times);
    return 0;
}
