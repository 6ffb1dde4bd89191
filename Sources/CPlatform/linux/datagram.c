#ifdef __linux__
#define _GNU_SOURCE
#include "CPlatform.h"

#include <netinet/in.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>

long multipeer_linux_send_segments(
    int socket, const void *address, unsigned int length, const void *bytes, unsigned long count,
    unsigned short segment) {
    struct iovec piece = {.iov_base = (void *)bytes, .iov_len = count};
    _Alignas(struct cmsghdr) char control[CMSG_SPACE(sizeof(segment))] = {0};
    struct msghdr message = {
        .msg_name = (void *)address, .msg_namelen = length, .msg_iov = &piece, .msg_iovlen = 1};
    if (segment != 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof(control);
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = IPPROTO_UDP;
        header->cmsg_type = UDP_SEGMENT;
        header->cmsg_len = CMSG_LEN(sizeof(segment));
        memcpy(CMSG_DATA(header), &segment, sizeof(segment));
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL);
}

int multipeer_linux_send_packets(
    int socket, const void *address, unsigned int length, const unsigned char *bytes,
    const unsigned short *sizes, unsigned int count) {
    struct mmsghdr messages[MULTIPEER_PACKETS] = {0};
    struct iovec pieces[MULTIPEER_PACKETS];
    if (count > MULTIPEER_PACKETS) count = MULTIPEER_PACKETS;
    for (unsigned int index = 0; index < count; index++) {
        pieces[index] = (struct iovec){.iov_base = (void *)bytes, .iov_len = sizes[index]};
        bytes += sizes[index];
        messages[index].msg_hdr.msg_name = (void *)address;
        messages[index].msg_hdr.msg_namelen = length;
        messages[index].msg_hdr.msg_iov = &pieces[index];
        messages[index].msg_hdr.msg_iovlen = 1;
    }
    return sendmmsg(socket, messages, count, MSG_NOSIGNAL);
}

/// Returns the size of each coalesced packet but the last; 0 for a single packet.
static unsigned int joined_size(struct msghdr *message) {
    for (struct cmsghdr *header = CMSG_FIRSTHDR(message); header; header = CMSG_NXTHDR(message, header)) {
        if (header->cmsg_level != IPPROTO_UDP || header->cmsg_type != UDP_GRO) continue;
        int size = 0;
        if (header->cmsg_len >= CMSG_LEN(sizeof(size))) memcpy(&size, CMSG_DATA(header), sizeof(size));
        return size > 0 ? (unsigned int)size : 0;
    }
    return 0;
}

int multipeer_linux_receive_packets(
    int socket, void *room, unsigned int size, struct multipeer_arrival *arrivals, unsigned int count) {
    struct mmsghdr messages[MULTIPEER_PACKETS] = {0};
    struct iovec pieces[MULTIPEER_PACKETS];
    _Alignas(struct cmsghdr) char controls[MULTIPEER_PACKETS][CMSG_SPACE(sizeof(int))];
    if (count > MULTIPEER_PACKETS) count = MULTIPEER_PACKETS;
    for (unsigned int index = 0; index < count; index++) {
        pieces[index] = (struct iovec){.iov_base = (char *)room + (size_t)index * size, .iov_len = size};
        messages[index].msg_hdr.msg_name = arrivals[index].address;
        messages[index].msg_hdr.msg_namelen = sizeof(arrivals[index].address);
        messages[index].msg_hdr.msg_iov = &pieces[index];
        messages[index].msg_hdr.msg_iovlen = 1;
        messages[index].msg_hdr.msg_control = controls[index];
        messages[index].msg_hdr.msg_controllen = sizeof(controls[index]);
    }
    int received = recvmmsg(socket, messages, count, MSG_DONTWAIT, NULL);
    for (int index = 0; index < received; index++) {
        arrivals[index].count = messages[index].msg_len;
        arrivals[index].segment = joined_size(&messages[index].msg_hdr);
        arrivals[index].is_truncated = (messages[index].msg_hdr.msg_flags & MSG_TRUNC) != 0;
    }
    return received;
}

int multipeer_linux_join_packets(int socket) {
    int one = 1;
    return setsockopt(socket, IPPROTO_UDP, UDP_GRO, &one, sizeof(one));
}
#endif
