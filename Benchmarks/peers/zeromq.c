// SPDX-License-Identifier: Apache-2.0
//
// ZeroMQ: two DEALER sockets over TCP with CURVE. The client knows the server's key; the server takes any client's.
#include <zmq.h>

#include "peer.h"

static struct {
    void *context, *socket;
    char public_key[41], secret_key[41];
} zero;

static void check(bool is_right, const char *what) { if (!is_right) die(what, zmq_strerror(zmq_errno())); }

static void set(int option, const void *value, size_t count, const char *what) {
    check(!zmq_setsockopt(zero.socket, option, value, count), what);
}

static const char *protection(void) { return "CURVE, XSalsa20-Poly1305"; }

static size_t prepare(bool is_server, unsigned char mine[INTRODUCTION]) {
    check(!zmq_curve_keypair(zero.public_key, zero.secret_key), "keys");
    zero.context = zmq_ctx_new();
    zero.socket = zmq_socket(zero.context, ZMQ_DEALER);
    check(zero.socket, "socket");
    set(ZMQ_CURVE_SECRETKEY, zero.secret_key, 41, "secret key");
    memcpy(mine, zero.public_key, 40);
    if (!is_server) return 40;
    int yes = 1;
    char address[INTRODUCTION];
    size_t length = sizeof address;
    set(ZMQ_CURVE_SERVER, &yes, sizeof yes, "server");
    check(!zmq_bind(zero.socket, "tcp://127.0.0.1:*"), "bind");
    check(!zmq_getsockopt(zero.socket, ZMQ_LAST_ENDPOINT, address, &length), "address");
    memcpy(mine + 40, address, length);
    return 40 + length;
}

static void begin(bool is_server, const unsigned char *theirs, size_t count) {
    if (count < 40) die("introduction", "too short");
    if (is_server) return;
    char key[41] = { 0 }, address[INTRODUCTION] = { 0 };
    memcpy(key, theirs, 40);
    memcpy(address, theirs + 40, count - 40);
    set(ZMQ_CURVE_SERVERKEY, key, 41, "server key");
    set(ZMQ_CURVE_PUBLICKEY, zero.public_key, 41, "public key");
    check(!zmq_connect(zero.socket, address), "connect");
    // It queues messages before it is connected: wait, so that connecting is not measured.
    nanosleep(&(struct timespec){ .tv_nsec = 200000000 }, NULL);
}

static void send_message(const unsigned char *bytes, size_t count) {
    check(zmq_send(zero.socket, bytes, count, 0) == (int)count, "send");
}

static size_t receive_message(void) {
    zmq_msg_t message;
    check(!zmq_msg_init(&message) && zmq_msg_recv(&message, zero.socket, 0) >= 0, "receive");
    size_t count = zmq_msg_size(&message);
    static volatile unsigned char first;
    if (count > 0) first = *(unsigned char *)zmq_msg_data(&message);
    (void)first;
    zmq_msg_close(&message);
    return count;
}

static void end(void) {
    zmq_close(zero.socket);
    zmq_ctx_term(zero.context);
}
