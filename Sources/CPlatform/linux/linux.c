#ifdef __linux__
#define _GNU_SOURCE
#include "CPlatform.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(
    sizeof(struct multipeer_linux_event) == sizeof(struct epoll_event)
        && offsetof(struct multipeer_linux_event, events) == offsetof(struct epoll_event, events)
        && offsetof(struct multipeer_linux_event, key) == offsetof(struct epoll_event, data),
    "the kernel writes these events");

int multipeer_linux_open_poller(void) { return epoll_create1(EPOLL_CLOEXEC); }

static int control(int poller, int operation, int watched, unsigned int events, unsigned long long key) {
    struct epoll_event event = {.events = events, .data.u64 = key};
    return epoll_ctl(poller, operation, watched, &event);
}

int multipeer_linux_add_watched(int poller, int watched, unsigned int events, unsigned long long key) {
    return control(poller, EPOLL_CTL_ADD, watched, events, key);
}

int multipeer_linux_change_watched(int poller, int watched, unsigned int events, unsigned long long key) {
    return control(poller, EPOLL_CTL_MOD, watched, events, key);
}

int multipeer_linux_remove_watched(int poller, int watched) {
    return control(poller, EPOLL_CTL_DEL, watched, 0, 0);
}

int multipeer_linux_wait(int poller, struct multipeer_linux_event *events, int count, int milliseconds) {
    return epoll_wait(poller, (struct epoll_event *)events, count, milliseconds);
}

int multipeer_linux_open_waker(void) { return eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK); }

long multipeer_linux_random(void *bytes, size_t count) { return getrandom(bytes, count, 0); }

int multipeer_linux_socket(int domain, int type, int protocol) {
    return socket(domain, type | SOCK_NONBLOCK | SOCK_CLOEXEC, protocol);
}

int multipeer_linux_accept(int listener, void *address, unsigned int *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void multipeer_linux_wait_briefly(int descriptor, long nanoseconds) {
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    struct timespec limit = {.tv_nsec = nanoseconds};
    ppoll(&watched, 1, &limit, NULL);
}

int multipeer_linux_close_from(void *actions, int first) {
#ifdef __GLIBC__
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
#else
    return multipeer_portable_close_from(actions, first);
#endif
}

void multipeer_linux_punch_hole(int file, long long start, long long length) {
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length);
}

int multipeer_linux_rename_to_new(int directory, const char *from, const char *to) {
    // Not every C library has the function.
    const unsigned int no_replace = 1;
    return (int)syscall(SYS_renameat2, directory, from, directory, to, no_replace);
}
#endif
