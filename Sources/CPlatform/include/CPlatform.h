#ifndef MULTIPEER_CPLATFORM_H
#define MULTIPEER_CPLATFORM_H

// The few C lines that the platform's headers force on us: what Swift's Glibc module does not export, and the
// ThreadSanitizer annotations, which must be compiled by the C compiler to see the sanitizer.

#include <sys/epoll.h>
#include <sys/eventfd.h>

/// Tells ThreadSanitizer that what happened before `multipeer_tsan_release` is visible here. A no-op otherwise.
void multipeer_tsan_acquire(const void *address);

/// Tells ThreadSanitizer that what happened until here is visible after `multipeer_tsan_acquire`. A no-op otherwise.
void multipeer_tsan_release(const void *address);

#endif
