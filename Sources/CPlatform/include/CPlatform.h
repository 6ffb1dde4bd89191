#ifndef MULTIPEER_CPLATFORM_H
#define MULTIPEER_CPLATFORM_H

// The few lines that have to be C: what Swift's modules of C libraries do not export, and the ThreadSanitizer
// annotations, which have to be compiled as C to detect the sanitizer.
//
// No header of the system is included here: what it declares would belong to this module and to that of the C library, and a
// file of Swift would have to import either, in a way that depends on the order in which the compiler reads them.

#include <stdbool.h>
#include <stddef.h>

#ifdef __linux__
#include "CPlatformLinux.h"
#endif
#include "CPlatformPortable.h"

/// Starts a thread that calls `body`, and sets its number, which C libraries represent in different ways. Returns like
/// `pthread_create`.
int multipeer_start_thread(void *(*body)(void *), void *argument, unsigned long *thread);

/// Waits for the end of a thread.
void multipeer_join_thread(unsigned long thread);

/// Releases a thread, for which no call waits, when it ends.
void multipeer_detach_thread(unsigned long thread);

/// Names the calling thread, in at most 15 bytes. An extension, which Swift's importer does not see.
void multipeer_name_thread(const char *name);

/// Writes the calling thread's name, at most 15 bytes and a zero, into `name`, which has room for 16.
void multipeer_get_thread_name(char *name);

/// Returns the variables of the process, up to a null pointer. To Swift, the one that C has is not safe: it can be changed.
char *const *multipeer_environment(void);

/// Returns the words with which the process was started, up to a null pointer; null where the C library does not pass them on. Swift's
/// runtime reads them from /proc, which not every machine has.
char *const *multipeer_arguments(void);

/// Has OpenSSL read no configuration file in this process. For the main function of a program, before it uses OpenSSL.
void multipeer_ignore_openssl_configuration(void);

/// Lets the allocator keep up to twice `size` bytes of freed memory (at most 32 MiB) instead of returning it to the system at
/// once: otherwise every message would fault its memory in again. It only raises the threshold that glibc itself adapts
/// when large blocks are freed; other allocators ignore it.
void multipeer_keep_freed_memory(unsigned long size);

/// Returns the number of heap bytes allocated and not freed, of all threads together; 0 where the allocator does not
/// report it.
long multipeer_allocated_bytes(void);

/// Moves the calling thread, and what it starts from now on, into a new network namespace, which has only a loopback interface
/// that is down. A GNU extension; ENOSYS on a system without namespaces. Returns like `unshare`.
int multipeer_leave_network(void);

/// Returns the virtual time in which the calling thread runs; null on a thread that does not.
void *multipeer_virtual_time(void);
void multipeer_set_virtual_time(void *time);

/// Whether this build runs under ThreadSanitizer. Read inline, so that a lock costs a load and not two calls.
extern const bool multipeer_tsan_enabled;

void multipeer_tsan_do_acquire(const void *address);
void multipeer_tsan_do_release(const void *address);
void multipeer_tsan_do_ignore(bool begins);

/// Declares to ThreadSanitizer that everything before `multipeer_tsan_release` is visible here. A no-op otherwise.
static inline void multipeer_tsan_acquire(const void *address) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_acquire(address);
}

/// Declares to ThreadSanitizer that everything up to here is visible after `multipeer_tsan_acquire`. A no-op otherwise.
static inline void multipeer_tsan_release(const void *address) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_release(address);
}

/// Makes ThreadSanitizer ignore what this thread reads and writes, from `true` until `false`. A no-op otherwise.
static inline void multipeer_tsan_ignore(bool begins) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_ignore(begins);
}

/// The maximum number of packets per call of the functions that send or receive several.
#define MULTIPEER_PACKETS 64

#endif
