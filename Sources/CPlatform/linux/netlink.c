#ifdef __linux__
#define _GNU_SOURCE
#include "CPlatform.h"

#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
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

// What the older calls say, for a process that may not open a netlink socket.

static int open_for_requests(void) { return socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0); }

int multipeer_linux_describe_interface(const char *name, struct multipeer_linux_interface *found) {
    struct ifreq request = {0};
    if (strlen(name) >= sizeof(request.ifr_name)) {
        errno = ENODEV;
        return -1;
    }
    strcpy(request.ifr_name, name);
    int descriptor = open_for_requests();
    if (descriptor < 0) return -1;
    int code = ioctl(descriptor, SIOCGIFINDEX, &request);
    if (code == 0) found->index = (unsigned int)request.ifr_ifindex;
    if (code == 0) code = ioctl(descriptor, SIOCGIFFLAGS, &request);
    if (code == 0) found->flags = (unsigned short)request.ifr_flags;
    found->mtu = code == 0 && ioctl(descriptor, SIOCGIFMTU, &request) == 0 ? (unsigned int)request.ifr_mtu : 0;
    int reason = errno;
    close(descriptor);
    errno = reason;
    return code;
}

int multipeer_linux_list_addresses(struct multipeer_linux_address *room, int count) {
    int descriptor = open_for_requests();
    if (descriptor < 0) return -1;
    struct ifreq *requests = calloc((size_t)count, sizeof(struct ifreq));
    struct ifconf list = {.ifc_len = count * (int)sizeof(struct ifreq), .ifc_req = requests};
    int found = -1;
    if (requests && ioctl(descriptor, SIOCGIFCONF, &list) == 0) {
        found = list.ifc_len / (int)sizeof(struct ifreq);
        for (int i = 0; i < found; i++) {
            struct sockaddr_in address;
            memcpy(&address, &requests[i].ifr_addr, sizeof(address));
            memcpy(room[i].name, requests[i].ifr_name, sizeof(room[i].name));
            room[i].name[sizeof(room[i].name) - 1] = 0;
            room[i].address = ntohl(address.sin_addr.s_addr);
            // Of several addresses with one name, the one in the request is meant.
            room[i].mask = 0xffffffff;
            if (ioctl(descriptor, SIOCGIFNETMASK, &requests[i]) != 0) continue;
            memcpy(&address, &requests[i].ifr_netmask, sizeof(address));
            room[i].mask = ntohl(address.sin_addr.s_addr);
        }
    }
    int reason = errno;
    free(requests);
    close(descriptor);
    errno = reason;
    return found;
}
#endif
