#ifndef MULTIPEER_CPLATFORM_H
#define MULTIPEER_CPLATFORM_H

// The few lines that have to be C: what Swift's Glibc module does not export, and the ThreadSanitizer
// annotations, which have to be compiled as C to detect the sanitizer.

#include <stdbool.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/random.h>

/// Names the calling thread, in at most 15 bytes. A GNU extension, which Swift's importer does not see.
void multipeer_name_thread(const char *name);

/// Calls `accept4` for a non-blocking, close-on-exec socket. Also a GNU extension. `address` is a
/// `struct sockaddr` of `*length` bytes; its header is left to Swift's Glibc module.
int multipeer_accept(int listener, void *address, unsigned int *length);

/// Closes `first` and all higher descriptors in a process that is to be started. `actions` is a
/// `posix_spawn_file_actions_t`. One more GNU extension. Returns like `posix_spawn_file_actions_addclose`.
int multipeer_close_from(void *actions, int first);

/// Waits until the descriptor can be read, at most for this long, which is less than a second. `ppoll` is one more GNU extension.
void multipeer_wait_briefly(int descriptor, long nanoseconds);

/// The maximum number of packets per call of `multipeer_send_packets` or `multipeer_receive_packets`.
#define MULTIPEER_PACKETS 64

/// The size in bytes of the longest socket address in use, a `struct sockaddr_in6`.
#define MULTIPEER_ADDRESS_ROOM 28

/// Sends `count` bytes as UDP packets of `segment` bytes, of which the last may be shorter, with one call (UDP_SEGMENT).
/// With a `segment` of 0 they are one packet. Returns like `sendmsg`.
long multipeer_send_segments(
    int socket, const void *address, unsigned int length, const void *bytes, unsigned long count,
    unsigned short segment);

/// Sends `count` packets, stored contiguously in `bytes`, to one address. Returns like `sendmmsg`.
int multipeer_send_packets(
    int socket, const void *address, unsigned int length, const unsigned char *bytes,
    const unsigned short *sizes, unsigned int count);

/// One received packet, or several of equal size that the kernel coalesced (UDP_GRO).
struct multipeer_arrival {
    /// The total size in bytes, and the size of each packet but the last; 0 for a single packet.
    unsigned int count;
    unsigned int segment;
    bool is_truncated;
    /// A `struct sockaddr`.
    _Alignas(8) unsigned char address[MULTIPEER_ADDRESS_ROOM];
};

/// Receives into `count` contiguous buffers of `size` bytes, without waiting. Returns like `recvmmsg`.
int multipeer_receive_packets(
    int socket, void *room, unsigned int size, struct multipeer_arrival *arrivals, unsigned int count);

/// Lets the kernel coalesce received packets. Returns like `setsockopt`.
int multipeer_join_packets(int socket);

/// Opens a non-blocking socket on which the kernel reports interfaces and their addresses, also on request
/// (NETLINK_ROUTE). Returns like `socket`.
int multipeer_open_netlink(void);

/// Receives a message of the kernel, up to `count` bytes; returns 0 when the sender is not the kernel, otherwise like
/// `recvfrom`.
long multipeer_receive_netlink(int socket, void *bytes, unsigned long count);

/// Lets glibc keep up to twice `size` bytes of freed memory (at most 32 MiB) instead of returning it to the system at
/// once: otherwise every message would fault its memory in again. It only raises the threshold that glibc itself adapts
/// when large blocks are freed; other allocators ignore it.
void multipeer_keep_freed_memory(unsigned long size);

/// Returns the number of heap bytes allocated and not freed, of all threads together; 0 where the allocator does not
/// report it.
long multipeer_allocated_bytes(void);

/// Releases the disk space of a part of a file and keeps its length. A GNU extension; does nothing on a file system
/// without support for it.
void multipeer_punch_hole(int file, long long start, long long length);

/// Renames a file unless the new name exists (EEXIST). A GNU extension; EINVAL on a file system without support for it.
/// Returns like `rename`.
int multipeer_rename_to_new(int directory, const char *from, const char *to);

/// Moves the calling thread, and what it starts from now on, into a new network namespace, which has only a loopback interface
/// that is down. A GNU extension; ENOSYS on a system without namespaces. Returns like `unshare`.
int multipeer_leave_network(void);

/// Returns the virtual time in which the calling thread runs; null on a thread that does not.
void *multipeer_virtual_time(void);
void multipeer_set_virtual_time(void *time);

/// Writes the calling thread's name, at most 15 bytes and a zero, into `name`, which has room for 16. A GNU extension.
void multipeer_get_thread_name(char *name);

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

#endif
