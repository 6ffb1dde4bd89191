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

/// Packets that one call of `multipeer_send_packets` or `multipeer_receive_packets` handles at the most.
#define MULTIPEER_PACKETS 64

/// Bytes of the longest socket address that we use, a `struct sockaddr_in6`.
#define MULTIPEER_ADDRESS_ROOM 28

/// Sends `count` bytes as UDP packets of `segment` bytes, of which the last may be shorter, with one call (UDP_SEGMENT).
/// With a `segment` of 0 they are one packet. Answers like `sendmsg`.
long multipeer_send_segments(
    int socket, const void *address, unsigned int length, const void *bytes, unsigned long count,
    unsigned short segment);

/// Sends `count` packets, which lie one behind the other in `bytes`, to one address. Answers like `sendmmsg`.
int multipeer_send_packets(
    int socket, const void *address, unsigned int length, const unsigned char *bytes,
    const unsigned short *sizes, unsigned int count);

/// One packet that came, or several of equal size that the kernel joined (UDP_GRO).
struct multipeer_arrival {
    /// Bytes, and how many of them each packet but the last has; 0 when it is one packet.
    unsigned int count;
    unsigned int segment;
    bool is_truncated;
    /// A `struct sockaddr`.
    _Alignas(8) unsigned char address[MULTIPEER_ADDRESS_ROOM];
};

/// Receives into `count` rooms of `size` bytes, one behind the other, without waiting. Answers like `recvmmsg`.
int multipeer_receive_packets(
    int socket, void *room, unsigned int size, struct multipeer_arrival *arrivals, unsigned int count);

/// Lets the kernel join packets that come. Answers like `setsockopt`.
int multipeer_join_packets(int socket);

/// A socket on which the kernel tells of interfaces and their addresses, and answers for them (NETLINK_ROUTE). It never
/// blocks. Answers like `socket`.
int multipeer_open_netlink(void);

/// Receives what the kernel said, up to `count` bytes, or 0 bytes when it was somebody else. Answers like `recvfrom`.
long multipeer_receive_netlink(int socket, void *bytes, unsigned long count);

/// Lets glibc keep up to twice `size` bytes of freed memory (at most 32 MiB) instead of giving it back to the system at
/// once: a message's memory would otherwise be faulted in anew for each. It only raises the threshold that glibc adapts
/// by itself when large blocks are freed; other allocators ignore it.
void multipeer_keep_freed_memory(unsigned long size);

/// Bytes of the heap that were asked for and not given back, of all threads together; 0 where the allocator does not say.
long multipeer_allocated_bytes(void);

/// Gives back the disk space of a part of a file, whose length stays. A GNU extension; on a file system that cannot, it
/// does nothing.
void multipeer_punch_hole(int file, long long start, long long length);

/// What the calling thread runs in, while it runs in virtual time; null on every other thread.
void *multipeer_virtual_time(void);
void multipeer_set_virtual_time(void *time);

/// Writes the calling thread's name, at most 15 bytes and a zero, into `name`, which has room for 16. A GNU extension.
void multipeer_get_thread_name(char *name);

/// Whether this build runs under ThreadSanitizer. Read inline, so that a lock pays for a load and not for two calls.
extern const bool multipeer_tsan_enabled;

void multipeer_tsan_do_acquire(const void *address);
void multipeer_tsan_do_release(const void *address);
void multipeer_tsan_do_ignore(bool begins);

/// Tells ThreadSanitizer that what happened before `multipeer_tsan_release` is visible here. A no-op otherwise.
static inline void multipeer_tsan_acquire(const void *address) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_acquire(address);
}

/// Tells ThreadSanitizer that what happened until here is visible after `multipeer_tsan_acquire`. A no-op otherwise.
static inline void multipeer_tsan_release(const void *address) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_release(address);
}

/// Between `true` and `false` ThreadSanitizer does not look at what this thread reads and writes. A no-op otherwise.
static inline void multipeer_tsan_ignore(bool begins) {
    if (__builtin_expect(multipeer_tsan_enabled, false)) multipeer_tsan_do_ignore(begins);
}

#endif
