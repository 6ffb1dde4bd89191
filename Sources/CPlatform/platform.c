#define _GNU_SOURCE
#include "CPlatform.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

_Static_assert(sizeof(pthread_t) <= sizeof(unsigned long), "a number for each thread");

int multipeer_start_thread(void *(*body)(void *), void *argument, unsigned long *thread) {
    pthread_t started;
    int code = pthread_create(&started, NULL, body, argument);
    if (code == 0) *thread = (unsigned long)started;
    return code;
}

void multipeer_join_thread(unsigned long thread) { pthread_join((pthread_t)thread, NULL); }
void multipeer_detach_thread(unsigned long thread) { pthread_detach((pthread_t)thread); }

void multipeer_name_thread(const char *name) {
#ifdef __APPLE__
    pthread_setname_np(name);
#else
    pthread_setname_np(pthread_self(), name);
#endif
}

void multipeer_get_thread_name(char *name) {
    if (pthread_getname_np(pthread_self(), name, 16) != 0) name[0] = 0;
}

extern char **environ;

char *const *multipeer_environment(void) { return environ; }

static char *const *arguments;

#ifdef __GLIBC__
// glibc passes what `main` gets to every constructor.
__attribute__((constructor)) static void keep_arguments(int count, char *const *words) {
    (void)count;
    arguments = words;
}
#endif

char *const *multipeer_arguments(void) { return arguments; }

static _Thread_local void *virtual_time;

void *multipeer_virtual_time(void) { return virtual_time; }
void multipeer_set_virtual_time(void *time) { virtual_time = time; }

void multipeer_keep_freed_memory(unsigned long size) {
    // Volatile, so that the pair is not optimised away. glibc: mallopt(3), M_MMAP_THRESHOLD, dynamic adjustment.
    void *volatile block = malloc(size);
    free(block);
}

long multipeer_allocated_bytes(void) {
#ifdef __GLIBC__
    struct mallinfo2 info = mallinfo2();
    return (long)(info.uordblks + info.hblkhd);
#else
    return 0;
#endif
}

// OpenSSL cleans up in exit(3), while other threads still use it until the process ends. Only the first call to OpenSSL
// can disable that, so this call precedes all others. Weak, because not every program with this file links OpenSSL.
int OPENSSL_init_crypto(uint64_t options, const void *settings) __attribute__((weak));

__attribute__((constructor)) static void keep_openssl_until_the_end(void) {
    const uint64_t no_atexit = 0x00080000;  // OPENSSL_INIT_NO_ATEXIT
    if (OPENSSL_init_crypto) OPENSSL_init_crypto(no_atexit, NULL);
}

void multipeer_ignore_openssl_configuration(void) {
    const uint64_t no_load_config = 0x00000080;  // OPENSSL_INIT_NO_LOAD_CONFIG
    if (OPENSSL_init_crypto) OPENSSL_init_crypto(no_load_config, NULL);
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
