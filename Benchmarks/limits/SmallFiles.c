// SPDX-License-Identifier: Apache-2.0
//
// The limit of small files one after the other: the processor time of what cannot be left out for a file of 4 KiB, each part by
// itself. The sender reads it on a thread for files, and waits there for its turn; the receiver creates, writes and renames it on
// another one; and both sleep in between, because each file is sent when the one before has arrived.
//
//   SmallFiles: no arguments. The files are in /dev/shm.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 5000, SIZE = 4096 };
static char folder[64], bytes[SIZE];

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static void report(const char *what, double began) {
    printf("{\"what\": \"%s\", \"value\": %.2f, \"unit\": \"us\"}\n", what, (processor_time() - began) / FILES);
}

static void path(char *into, const char *kind, int number) { snprintf(into, 96, "%s/%s-%d", folder, kind, number); }

static void must(int result) {
    if (result < 0) exit(1);
}

/// Creates a file under a name that no other process sweeps, and gives it its own name when it is whole.
static void receive_one(int number, int carefully) {
    char draft[96], name[96];
    struct stat status;
    struct statvfs space;
    path(draft, "draft", number);
    path(name, "file", number);
    int directory = carefully ? open(folder, O_RDONLY | O_DIRECTORY) : -1;
    if (carefully) must(fstatvfs(directory, &space));
    int file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
    must(file);
    if (carefully) must(flock(file, LOCK_EX | LOCK_NB) | fstat(file, &status) | lstat(draft, &status));
    must(write(file, bytes, SIZE) == SIZE ? 0 : -1);
    int copy = carefully ? dup(file) : -1;
    must(close(file));
    must(renameat2(AT_FDCWD, draft, AT_FDCWD, name, RENAME_NOREPLACE));
    if (carefully) must(close(copy) | close(directory));
}

static void send_one(int number) {
    char name[96];
    struct stat status;
    path(name, "file", number);
    int file = open(name, O_RDONLY);
    must(file | fstat(file, &status));
    must(read(file, bytes, SIZE) == SIZE ? 0 : -1);
    must(close(file));
}

/// Answers each wakeup of the other thread; both sleep in epoll_wait, as loops do.
struct ends { int mine, other; };

static void wait_for(int epoll, int fd) {
    struct epoll_event event;
    uint64_t count;
    must(epoll_wait(epoll, &event, 1, -1) == 1 ? 0 : -1);
    must(read(fd, &count, sizeof count) == sizeof count ? 0 : -1);
}

static void *pass(void *argument) {
    struct ends *ends = argument;
    uint64_t one = 1;
    int epoll = epoll_create1(0);
    struct epoll_event interest = { .events = EPOLLIN };
    must(epoll_ctl(epoll, EPOLL_CTL_ADD, ends->mine, &interest));
    for (int i = 0; i < FILES; i++) {
        wait_for(epoll, ends->mine);
        must(write(ends->other, &one, sizeof one) == sizeof one ? 0 : -1);
    }
    return NULL;
}

static void hops(void) {
    int a = eventfd(0, 0), b = eventfd(0, 0);
    struct ends here = { a, b }, there = { b, a };
    uint64_t one = 1;
    pthread_t thread;
    double began = processor_time();
    must(-pthread_create(&thread, NULL, pass, &there));
    must(write(a, &one, sizeof one) == sizeof one ? 0 : -1);
    pass(&here);
    pthread_join(thread, NULL);
    report("from a thread that sleeps to another that sleeps, and back", began);
}

int main(void) {
    snprintf(folder, sizeof folder, "/dev/shm/small-files-%d", getpid());
    must(mkdir(folder, 0700));
    double began = processor_time();
    for (int i = 0; i < FILES; i++) receive_one(i, 0);
    report("receiver: open, write, close, rename", began);
    began = processor_time();
    for (int i = 0; i < FILES; i++) send_one(i);
    report("sender: open, fstat, read, close", began);
    for (int i = 0; i < FILES; i++) {
        char name[96];
        path(name, "file", i);
        must(unlink(name));
    }
    began = processor_time();
    for (int i = 0; i < FILES; i++) receive_one(i, 1);
    report("receiver, with the free space, a lock and two checks of it", began);
    hops();
    char command[96];
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}
