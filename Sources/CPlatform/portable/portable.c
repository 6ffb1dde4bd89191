#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <netinet/in.h>
#include <spawn.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

_Static_assert(sizeof(struct sockaddr_in6) == MULTIPEER_ADDRESS_ROOM, "room for an address");

#ifdef MSG_NOSIGNAL
static const int no_signal = MSG_NOSIGNAL;
#else
static const int no_signal = 0;
#endif

/// Returns the descriptor, which neither blocks nor is inherited; or closes it, and returns -1.
static int prepared(int descriptor) {
    if (descriptor < 0) return descriptor;
    int flags = fcntl(descriptor, F_GETFL);
    if (fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 && flags >= 0
        && fcntl(descriptor, F_SETFL, flags | O_NONBLOCK) == 0)
        return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

static int prepared_socket(int descriptor) {
#ifdef SO_NOSIGPIPE
    int one = 1;
    if (descriptor >= 0) setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &one, sizeof(one));
#endif
    return prepared(descriptor);
}

int multipeer_portable_socket(int domain, int type, int protocol) {
    return prepared_socket(socket(domain, type, protocol));
}

int multipeer_portable_accept(int listener, void *address, unsigned int *length) {
    return prepared_socket(accept(listener, address, length));
}

int multipeer_portable_pipe(int *ends) {
    if (pipe(ends) != 0) return -1;
    int first = prepared(ends[0]);
    int second = prepared(ends[1]);
    if (first >= 0 && second >= 0) return 0;
    int code = errno;
    if (first >= 0) close(first);
    if (second >= 0) close(second);
    errno = code;
    return -1;
}

long multipeer_portable_send_packet(
    int socket, const void *address, unsigned int length, const void *bytes, unsigned long count) {
    return sendto(socket, bytes, count, no_signal, address, length);
}

int multipeer_portable_receive_packets(
    int socket, void *room, unsigned int size, struct multipeer_arrival *arrivals, unsigned int count) {
    unsigned int received = 0;
    while (received < count) {
        struct multipeer_arrival *arrival = &arrivals[received];
        struct iovec piece = {.iov_base = (char *)room + (size_t)received * size, .iov_len = size};
        struct msghdr message = {
            .msg_name = arrival->address, .msg_namelen = sizeof(arrival->address), .msg_iov = &piece,
            .msg_iovlen = 1};
        long bytes = recvmsg(socket, &message, MSG_DONTWAIT);
        // An error after some packets is reported by the next call.
        if (bytes < 0) return received > 0 ? (int)received : -1;
        arrival->count = (unsigned int)bytes;
        arrival->segment = 0;
        arrival->is_truncated = (message.msg_flags & MSG_TRUNC) != 0;
        received++;
    }
    return (int)received;
}

int multipeer_portable_close_from(void *actions, int first) {
    const long most = 65536;
    long limit = sysconf(_SC_OPEN_MAX);
    if (limit < 0 || limit > most) limit = most;
    for (int descriptor = first; descriptor < limit; descriptor++) {
        if (fcntl(descriptor, F_GETFD) < 0) continue;
        int code = posix_spawn_file_actions_addclose(actions, descriptor);
        if (code != 0) return code;
    }
    return 0;
}

int multipeer_portable_random(void *bytes, size_t count) {
    // What one call of getentropy gives.
    const size_t most = 256;
    for (size_t done = 0; done < count; done += most) {
        size_t rest = count - done;
        if (getentropy((char *)bytes + done, rest < most ? rest : most) != 0) return -1;
    }
    return 0;
}

unsigned int multipeer_portable_multicast_flag(void) { return IFF_MULTICAST; }

unsigned int multipeer_portable_mtu(const char *interface) {
    struct ifreq request;
    memset(&request, 0, sizeof(request));
    if (strlen(interface) >= sizeof(request.ifr_name)) return 0;
    strcpy(request.ifr_name, interface);
    int descriptor = multipeer_portable_socket(AF_INET, SOCK_DGRAM, 0);
    if (descriptor < 0) return 0;
    int code = ioctl(descriptor, SIOCGIFMTU, &request);
    close(descriptor);
    return code == 0 && request.ifr_mtu > 0 ? (unsigned int)request.ifr_mtu : 0;
}

void multipeer_portable_pause(long nanoseconds) {
    struct timespec time = {.tv_nsec = nanoseconds};
    nanosleep(&time, NULL);
}
