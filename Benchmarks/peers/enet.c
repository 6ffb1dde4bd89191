// SPDX-License-Identifier: Apache-2.0
//
// ENet: reliable packets over UDP, not encrypted. It queues without a limit, so the client keeps at most WAITING bytes
// that are not acknowledged.
#include <enet/enet.h>

#include "peer.h"

enum { WAITING = 4 << 20, PACKETS = 4096, SERVICE = 64 };

static struct {
    ENetHost *host;
    ENetPeer *peer;
    size_t waiting, packets, unserved;
    bool is_server;
    ENetPacket *received[1 << 12];
    size_t at, end;
} net;

static const char *protection(void) { return "none"; }

static void freed(ENetPacket *packet) { net.waiting -= packet->dataLength, net.packets--; }

/// Sends, receives and acknowledges; waits for a datagram at most `milliseconds`.
static void serve(unsigned milliseconds) {
    ENetEvent event;
    net.unserved = 0;
    while (net.end - net.at < sizeof net.received / sizeof *net.received
           && enet_host_service(net.host, &event, milliseconds) > 0) {
        milliseconds = 0;
        if (event.type == ENET_EVENT_TYPE_CONNECT) net.peer = event.peer;
        if (event.type == ENET_EVENT_TYPE_DISCONNECT) net.peer = NULL;
        if (event.type != ENET_EVENT_TYPE_RECEIVE) continue;
        net.received[net.end++ % (sizeof net.received / sizeof *net.received)] = event.packet;
    }
}

static size_t prepare(bool is_server, unsigned char mine[INTRODUCTION]) {
    ENetAddress address = { .port = 0 };
    if (enet_initialize() || enet_address_set_host(&address, "127.0.0.1")) die("enet", "not initialised");
    net.is_server = is_server;
    net.host = enet_host_create(is_server ? &address : NULL, 1, 1, 0, 0);
    if (!net.host) die("host", "none");
    enet_socket_get_address(net.host->socket, &address);
    mine[0] = (unsigned char)(address.port >> 8), mine[1] = (unsigned char)address.port;
    return 2;
}

static void begin(bool is_server, const unsigned char *theirs, size_t count) {
    if (count != 2) die("introduction", "too short");
    ENetAddress address = { .port = (enet_uint16)(theirs[0] << 8 | theirs[1]) };
    enet_address_set_host(&address, "127.0.0.1");
    if (!is_server && !enet_host_connect(net.host, &address, 1, 0)) die("connect", "no peer");
    while (!net.peer) serve(1000);
}

static void send_message(const unsigned char *bytes, size_t count) {
    ENetPacket *packet = enet_packet_create(bytes, count, ENET_PACKET_FLAG_RELIABLE);
    packet->freeCallback = freed;
    net.waiting += count, net.packets++, net.unserved++;
    if (!net.peer || enet_peer_send(net.peer, 0, packet)) die("send", "refused");
    if (net.unserved >= SERVICE) serve(0);
    while (net.waiting > WAITING || net.packets > PACKETS) serve(1);
}

static size_t receive_message(void) {
    while (net.at == net.end) {
        if (!net.peer) die("receive", "disconnected");
        serve(1000);
    }
    ENetPacket *packet = net.received[net.at++ % (sizeof net.received / sizeof *net.received)];
    static volatile unsigned char first;
    size_t count = packet->dataLength;
    if (count > 0) first = packet->data[0];
    (void)first;
    enet_packet_destroy(packet);
    return count;
}

static void end(void) {
    // The server's last message is acknowledged before the client leaves.
    if (!net.is_server) enet_peer_disconnect_later(net.peer, 0);
    for (int i = 0; net.peer && i < 100; i++) serve(10);
    enet_host_destroy(net.host);
}
