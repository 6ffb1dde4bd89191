#ifdef __linux__
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <unistd.h>

int multipeer_linux_open_netlink(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, NETLINK_ROUTE);
    if (descriptor < 0) return descriptor;
    struct sockaddr_nl address = {
        .nl_family = AF_NETLINK, .nl_groups = RTMGRP_LINK | RTMGRP_IPV4_IFADDR | RTMGRP_IPV6_IFADDR};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof(address)) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}

long multipeer_linux_receive_netlink(int socket, void *bytes, unsigned long count) {
    struct sockaddr_nl source = {0};
    socklen_t length = sizeof(source);
    long received = recvfrom(socket, bytes, count, MSG_DONTWAIT, (struct sockaddr *)&source, &length);
    return received > 0 && source.nl_pid != 0 ? 0 : received;
}
#endif
