#ifndef MULTIPEER_CPLATFORM_PORTABLE_H
#define MULTIPEER_CPLATFORM_PORTABLE_H

// What every system with POSIX has, in place of what Linux has in addition.

#include <stdbool.h>
#include <stddef.h>

/// The size in bytes of the longest socket address in use, a `struct sockaddr_in6`.
#define MULTIPEER_ADDRESS_ROOM 28

/// One received packet, or several of equal size that the kernel coalesced (Linux alone).
struct multipeer_arrival {
    /// The total size in bytes, and the size of each packet but the last; 0 for a single packet.
    unsigned int count;
    unsigned int segment;
    bool is_truncated;
    /// A `struct sockaddr`.
    _Alignas(8) unsigned char address[MULTIPEER_ADDRESS_ROOM];
};

/// Opens a non-blocking, close-on-exec socket, with three calls. Returns like `socket`.
int multipeer_portable_socket(int domain, int type, int protocol);

/// Accepts a connection as a non-blocking, close-on-exec socket. `address` is a `struct sockaddr` of `*length` bytes. Returns
/// like `accept`.
int multipeer_portable_accept(int listener, void *address, unsigned int *length);

/// Opens a non-blocking, close-on-exec pipe. Returns like `pipe`.
int multipeer_portable_pipe(int *ends);

/// Sends one packet. Returns like `sendmsg`.
long multipeer_portable_send_packet(
    int socket, const void *address, unsigned int length, const void *bytes, unsigned long count);

/// Receives into `count` contiguous buffers of `size` bytes, one packet a call, without waiting. Returns the number of packets,
/// or -1 when there is none.
int multipeer_portable_receive_packets(
    int socket, void *room, unsigned int size, struct multipeer_arrival *arrivals, unsigned int count);

/// Closes all descriptors from `first` on that are open now, in a process that is to be started. `actions` is a
/// `posix_spawn_file_actions_t`. Returns like `posix_spawn_file_actions_addclose`.
int multipeer_portable_close_from(void *actions, int first);

/// Fills the memory with random bytes of the kernel. Returns 0, or -1 where there are none.
int multipeer_portable_random(void *bytes, size_t count);

/// The flag of an interface that carries multicast, which differs from one system to the next.
unsigned int multipeer_portable_multicast_flag(void);

/// Returns the MTU of an interface; 0 when it is not known.
unsigned int multipeer_portable_mtu(const char *interface);

/// Waits for so long, which is less than a second.
void multipeer_portable_pause(long nanoseconds);

#endif
