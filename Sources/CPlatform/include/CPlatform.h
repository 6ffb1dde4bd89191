#ifndef MULTIPEER_CPLATFORM_H
#define MULTIPEER_CPLATFORM_H

// The few C lines that the platform's headers force on us: what Swift's Glibc module does not export, and the
// ThreadSanitizer annotations, which must be compiled by the C compiler to see the sanitizer.

#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>

/// Names the calling thread, in at most 15 bytes. A GNU extension, which Swift's importer does not see.
void multipeer_name_thread(const char *name);

/// `accept4` with a non-blocking socket that is closed on exec. A GNU extension, too. `address` is a
/// `struct sockaddr` of `*length` bytes; its header is left to Swift's Glibc module.
int multipeer_accept(int listener, void *address, unsigned int *length);

/// Lets glibc keep up to twice `size` bytes of freed memory (at most 32 MiB) instead of giving it back to the system at
/// once: a message's memory would otherwise be faulted in anew for each. It only raises the threshold that glibc adapts
/// by itself when large blocks are freed; other allocators ignore it.
void multipeer_keep_freed_memory(unsigned long size);

/// Whether this build runs under ThreadSanitizer. Read inline, so that a lock pays for a load and not for two calls.
extern const bool multipeer_tsan_enabled;

void multipeer_tsan_do_acquire(const void *address);
void multipeer_tsan_do_release(const void *address);

/// Tells ThreadSanitizer that what happened before `multipeer_tsan_release` is visible here. A no-op otherwise.
static inline void multipeer_tsan_acquire(const void *address) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_acquire(address);
}

/// Tells ThreadSanitizer that what happened until here is visible after `multipeer_tsan_acquire`. A no-op otherwise.
static inline void multipeer_tsan_release(const void *address) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_release(address);
}

#endif
