#include "CPlatform.h"

#if __has_feature(thread_sanitizer)
void __tsan_acquire(void *address);
void __tsan_release(void *address);

void multipeer_tsan_acquire(const void *address) { __tsan_acquire((void *)address); }
void multipeer_tsan_release(const void *address) { __tsan_release((void *)address); }
#else
void multipeer_tsan_acquire(const void *address) { (void)address; }
void multipeer_tsan_release(const void *address) { (void)address; }
#endif
