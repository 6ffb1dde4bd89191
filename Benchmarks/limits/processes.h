// SPDX-License-Identifier: Apache-2.0
//
// What the programs here share that measure two processes on cores of their own.
#pragma once
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <time.h>

static void need(int condition, const char *what) {
    if (condition) return;
    perror(what);
    exit(1);
}

static double seconds(clockid_t clock) {
    struct timespec t;
    clock_gettime(clock, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static double processor(int of) {
    struct rusage usage;
    getrusage(of, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static void pin(cpu_set_t all, int index) {
    cpu_set_t one;
    CPU_ZERO(&one);
    for (int core = 0, seen = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all) && seen++ == index % CPU_COUNT(&all)) CPU_SET(core, &one);
    need(sched_setaffinity(0, sizeof one, &one) == 0, "pin");
}
