#define _GNU_SOURCE
#include "CPlatform.h"

#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <pthread.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>

void multipeer_name_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

int multipeer_close_from(void *actions, int first) {
    return posix_spawn_file_actions_addclosefrom_np(actions, first);
}

void multipeer_get_thread_name(char *name) {
    if (pthread_getname_np(pthread_self(), name, 16) != 0) name[0] = 0;
}

static _Thread_local void *virtual_time;

void *multipeer_virtual_time(void) { return virtual_time; }
void multipeer_set_virtual_time(void *time) { virtual_time = time; }

int multipeer_accept(int listener, void *address, unsigned int *length) {
    return accept4(listener, address, length, SOCK_NONBLOCK | SOCK_CLOEXEC);
}

void multipeer_wait_briefly(int descriptor, long nanoseconds) {
    struct pollfd watched = {.fd = descriptor, .events = POLLIN};
    struct timespec limit = {.tv_nsec = nanoseconds};
    ppoll(&watched, 1, &limit, NULL);
}

void multipeer_keep_freed_memory(unsigned long size) {
    // Volatile, so that the pair is not optimised away. glibc: mallopt(3), M_MMAP_THRESHOLD, dynamic adjustment.
    void *volatile block = malloc(size);
    free(block);
}

long multipeer_allocated_bytes(void) {
    struct mallinfo2 info = mallinfo2();
    return (long)(info.uordblks + info.hblkhd);
}

void multipeer_punch_hole(int file, long long start, long long length) {
    fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, start, length);
}

int multipeer_rename_to_new(int directory, const char *from, const char *to) {
    return renameat2(directory, from, directory, to, RENAME_NOREPLACE);
}

// OpenSSL cleans up in exit(3), while other threads still use it until the process ends. Only the first call to OpenSSL
// can disable that, so this call precedes all others. Weak, because not every program with this file links OpenSSL.
int OPENSSL_init_crypto(uint64_t options, const void *settings) __attribute__((weak));

__attribute__((constructor)) static void keep_openssl_until_the_end(void) {
    const uint64_t no_atexit = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT
    if (OPENSSL_init_crypto) OPENSSL_init_crypto(no_atexit, NULL);
}

#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);
void __tsan_ignore_thread_begin(void);
void __tsan_ignore_thread_end(void);

const bool multipeer_tsan_enabled = true;
void multipeer_tsan_do_acquire(const void *address) { __tsan_acquire((void *)address); }
void multipeer_tsan_do_release(const void *address) { __tsan_release((void *)address); }
void multipeer_tsan_do_ignore(bool begins) {
    if (begins) __tsan_ignore_thread_begin(); else __tsan_ignore_thread_end();
}
#else
const bool multipeer_tsan_enabled = false;
void multipeer_tsan_do_acquire(const void *address) { (void)address; }
void multipeer_tsan_do_release(const void *address) { (void)address; }
void multipeer_tsan_do_ignore(bool begins) { (void)begins; }
#endif
