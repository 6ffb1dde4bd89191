#ifndef MULTIPEER_CPLATFORM_LINUX_H
#define MULTIPEER_CPLATFORM_LINUX_H

// What Linux alone has.

#include <stddef.h>

struct multipeer_arrival;

/// A `struct epoll_event`, whose field is called `key` here.
struct multipeer_linux_event {
    unsigned int events;
    unsigned long long key;
}
#ifdef __x86_64__
__attribute__((packed))
#endif
;

/// Opens a close-on-exec epoll instance. Returns like `epoll_create1`.
int multipeer_linux_open_poller(void);

/// Watches a descriptor for these events, or for others than before. Returns like `epoll_ctl`.
int multipeer_linux_add_watched(int poller, int watched, unsigned int events, unsigned long long key);
int multipeer_linux_change_watched(int poller, int watched, unsigned int events, unsigned long long key);
int multipeer_linux_remove_watched(int poller, int watched);

/// Waits for up to `count` events. Returns like `epoll_wait`.
int multipeer_linux_wait(int poller, struct multipeer_linux_event *events, int count, int milliseconds);

/// Opens a non-blocking, close-on-exec descriptor that can be read once a number was written. Returns like `eventfd`.
int multipeer_linux_open_waker(void);

/// Fills the memory with random bytes of the kernel, as far as it can at once. Returns like `getrandom`.
long multipeer_linux_random(void *bytes, size_t count);

/// Opens a non-blocking, close-on-exec socket. Returns like `socket`.
int multipeer_linux_socket(int domain, int type, int protocol);

/// Calls `accept4` for a non-blocking, close-on-exec socket. `address` is a `struct sockaddr` of `*length` bytes; its header is
/// left to Swift's module of the C library.
int multipeer_linux_accept(int listener, void *address, unsigned int *length);

/// Closes `first` and all higher descriptors in a process that is to be started. `actions` is a
/// `posix_spawn_file_actions_t`. A GNU extension. Returns like `posix_spawn_file_actions_addclose`.
int multipeer_linux_close_from(void *actions, int first);

/// Waits until the descriptor can be read, at most for this long, which is less than a second (`ppoll`).
void multipeer_linux_wait_briefly(int descriptor, long nanoseconds);

/// Sends `count` bytes as UDP packets of `segment` bytes, of which the last may be shorter, with one call (UDP_SEGMENT).
/// With a `segment` of 0 they are one packet. Returns like `sendmsg`.
long multipeer_linux_send_segments(
    int socket, const void *address, unsigned int length, const void *bytes, unsigned long count,
    unsigned short segment);

/// Sends `count` packets, stored contiguously in `bytes`, to one address. Returns like `sendmmsg`.
int multipeer_linux_send_packets(
    int socket, const void *address, unsigned int length, const unsigned char *bytes,
    const unsigned short *sizes, unsigned int count);

/// Receives into `count` contiguous buffers of `size` bytes, without waiting. Returns like `recvmmsg`.
int multipeer_linux_receive_packets(
    int socket, void *room, unsigned int size, struct multipeer_arrival *arrivals, unsigned int count);

/// Lets the kernel coalesce received packets. Returns like `setsockopt`.
int multipeer_linux_join_packets(int socket);

/// Opens a non-blocking socket on which the kernel reports interfaces and their addresses, also on request
/// (NETLINK_ROUTE). Returns like `socket`.
int multipeer_linux_open_netlink(void);

/// Receives a message of the kernel, up to `count` bytes; returns 0 when the sender is not the kernel, otherwise like
/// `recvfrom`.
long multipeer_linux_receive_netlink(int socket, void *bytes, unsigned long count);

/// What the kernel says of an interface without netlink, by ioctl(2).
struct multipeer_linux_interface {
    unsigned int index;
    unsigned int flags;
    unsigned int mtu;
};

/// Returns like `ioctl`.
int multipeer_linux_describe_interface(const char *name, struct multipeer_linux_interface *found);

/// An IPv4 address, with its mask, and the interface or its alias. Numbers are those of this machine.
struct multipeer_linux_address {
    char name[16];
    unsigned int address;
    unsigned int mask;
};

/// Lists up to `count` addresses (SIOCGIFCONF). Returns their number, or -1 with `errno`.
int multipeer_linux_list_addresses(struct multipeer_linux_address *room, int count);

/// Releases the disk space of a part of a file and keeps its length. Does nothing on a file system without support for it.
void multipeer_linux_punch_hole(int file, long long start, long long length);

/// Renames a file unless the new name exists (EEXIST); EINVAL on a file system without support for it. Returns like `rename`.
int multipeer_linux_rename_to_new(int directory, const char *from, const char *to);

#endif
