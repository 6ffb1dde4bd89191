// SPDX-License-Identifier: Apache-2.0
//
// The baseline for datagrams: the speed of C with libssl's DTLS 1.2 and the kernel's UDP.
//
//   datagrams server|client sendto|gso SIZE COUNT
//
// Both ends print `INTRO <hex>` (a key and their port) and read the other's, the client first. The client then sends
// COUNT messages of SIZE bytes, each in a datagram `kind | association | record` as in Spec 10, no more than WINDOW
// ahead of the server's reports, and asks for the result. `sendto` makes a system call for each datagram; `gso` hands
// the kernel up to 64 KiB at once (UDP_SEGMENT) and takes as much (UDP_GRO). libssl reaches the buffers through a BIO of
// our own, so that nothing is copied twice.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <openssl/err.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103
#endif
#ifndef UDP_GRO
#define UDP_GRO 104
#endif

enum {
    HEADER = 9,             // kind u8 | association u64
    LONGEST = 1200,         // a whole datagram
    INNER = 5,              // kind u8 | sequence u32
    KEY = 32,
    BATCH = 64000,          // bytes handed to the kernel at once
    SEGMENTS = 60,
    WINDOW = 256,           // messages ahead of the last report
    REPORT = 64,            // messages between two reports
    STALL = 20,             // ms without a report, after which the window counts as lost
    TIME_LIMIT = 120,       // seconds
};
enum kind { MESSAGE = 1, REPORTED = 2, END = 3, RESULT = 4 };
static const char suite[] = "ECDHE-PSK-CHACHA20-POLY1305";

static struct {
    bool is_server, uses_gso, is_done;
    size_t size;
    uint32_t count, sent, received, reported, highest;
    int fd;
    SSL *ssl;
    struct sockaddr_in to;
    unsigned char key[KEY];
    unsigned char batch[BATCH + LONGEST];
    size_t batched, segment;
    const unsigned char *record;                            // the datagram that libssl may read
    size_t record_size;
    double began, ended, cpu_before;
    uint64_t sum;
} bench;

static void die(const char *what) {
    fprintf(stderr, "datagrams: %s: %s\n", what, errno ? strerror(errno) : "failed");
    ERR_print_errors_fp(stderr);
    exit(1);
}

// MARK: packets

/// Passes the batch to the kernel: equal segments, the last of them perhaps shorter.
static void flush(void) {
    if (bench.batched == 0) return;
    struct iovec piece = { .iov_base = bench.batch, .iov_len = bench.batched };
    union { char bytes[CMSG_SPACE(sizeof(uint16_t))]; struct cmsghdr align; } control = { 0 };
    struct msghdr message = { .msg_name = &bench.to, .msg_namelen = sizeof bench.to, .msg_iov = &piece, .msg_iovlen = 1 };
    if (bench.batched > bench.segment) {
        message.msg_control = control.bytes;
        message.msg_controllen = sizeof control.bytes;
        struct cmsghdr *header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = IPPROTO_UDP;
        header->cmsg_type = UDP_SEGMENT;
        header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
        uint16_t segment = (uint16_t)bench.segment;
        memcpy(CMSG_DATA(header), &segment, sizeof segment);
    }
    while (sendmsg(bench.fd, &message, 0) < 0) {
        if (errno == ECONNREFUSED || errno == EINTR) continue;
        if (errno != EAGAIN) die("sendmsg");
        poll(&(struct pollfd){ .fd = bench.fd, .events = POLLOUT }, 1, 100);
    }
    bench.batched = 0;
}

/// libssl's output: one record per call. It is added to the batch when it is as long as those in it.
static int bio_write(BIO *bio, const char *bytes, int count) {
    (void)bio;
    size_t size = HEADER + (size_t)count;
    if (size > LONGEST) return count;
    bool fits = bench.batched + size <= BATCH && bench.batched < SEGMENTS * bench.segment;
    if (bench.batched > 0 && (!bench.uses_gso || size > bench.segment || !fits)) flush();
    if (bench.batched == 0) bench.segment = size;
    unsigned char *at = bench.batch + bench.batched;
    memset(at, 0, HEADER);
    at[0] = 1;
    memcpy(at + HEADER, bytes, (size_t)count);
    bench.batched += size;
    if (size < bench.segment) flush();
    return count;
}

static int bio_read(BIO *bio, char *into, int count) {
    BIO_clear_retry_flags(bio);
    if (!bench.record) return BIO_set_retry_read(bio), -1;
    size_t taken = bench.record_size < (size_t)count ? bench.record_size : (size_t)count;
    memcpy(into, bench.record, taken);
    bench.record = NULL;
    return (int)taken;
}

static long bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    if (command == BIO_CTRL_DGRAM_QUERY_MTU || command == BIO_CTRL_DGRAM_GET_FALLBACK_MTU) return LONGEST - HEADER;
    return command == BIO_CTRL_FLUSH;
}

static void take(const unsigned char *content, size_t count);

/// Receives everything that has arrived, with at most `turns` calls.
static void receive(int turns) {
    static unsigned char buffer[65536];
    while (turns-- > 0) {
        struct iovec piece = { .iov_base = buffer, .iov_len = sizeof buffer };
        union { char bytes[256]; struct cmsghdr align; } control;
        struct msghdr message = {
            .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
        ssize_t n = recvmsg(bench.fd, &message, MSG_DONTWAIT);
        if (n < 0 && (errno == EAGAIN || errno == ECONNREFUSED)) return;
        if (n < 0) die("recvmsg");
        size_t segment = (size_t)n;
        for (struct cmsghdr *c = CMSG_FIRSTHDR(&message); c; c = CMSG_NXTHDR(&message, c))
            if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO) {
                int size;
                memcpy(&size, CMSG_DATA(c), sizeof size);
                segment = (size_t)size;
            }
        for (size_t at = 0; at < (size_t)n; at += segment) {
            size_t size = (size_t)n - at < segment ? (size_t)n - at : segment;
            if (size <= HEADER || buffer[at] != 1) continue;
            bench.record = buffer + at + HEADER;
            bench.record_size = size - HEADER;
            unsigned char content[LONGEST];
            for (;;) {
                ERR_clear_error();
                int got = SSL_read(bench.ssl, content, sizeof content);
                if (got <= 0) break;
                take(content, (size_t)got);
            }
        }
    }
}

// MARK: messages

static void say(enum kind kind, uint32_t number, size_t size) {
    static unsigned char content[LONGEST];
    content[0] = (unsigned char)kind;
    for (int i = 0; i < 4; i++) content[1 + i] = (unsigned char)(number >> (24 - 8 * i));
    ERR_clear_error();
    if (SSL_write(bench.ssl, content, (int)(INNER + size)) <= 0) die("SSL_write");
}

/// Every message gets memory of its own, as the receiver of a library would get it.
static void take(const unsigned char *content, size_t count) {
    if (count < INNER) return;
    uint32_t number = (uint32_t)content[1] << 24 | (uint32_t)content[2] << 16 | (uint32_t)content[3] << 8 | content[4];
    switch (content[0]) {
    case MESSAGE: {
        unsigned char *message = malloc(count - INNER + 1);
        if (!message) die("malloc");
        memcpy(message, content + INNER, count - INNER);
        bench.sum += message[0];
        free(message);
        bench.received++;
        if (number > bench.highest) bench.highest = number;
        if (bench.received % REPORT == 0) say(REPORTED, bench.highest, 0);
        break;
    }
    case REPORTED:
        if (number > bench.reported) bench.reported = number;
        break;
    case END:
        say(RESULT, bench.received, 0);
        bench.is_done = true;
        break;
    case RESULT:
        if (!bench.is_done) bench.ended = now();
        bench.received = number;
        bench.is_done = true;
        break;
    }
}

static bool wait_for(int ms) { return poll(&(struct pollfd){ .fd = bench.fd, .events = POLLIN }, 1, ms) > 0; }

static void shake_hands(void) {
    for (double end = now() + 10; now() < end;) {
        ERR_clear_error();
        int result = SSL_do_handshake(bench.ssl);
        flush();
        if (result == 1) return;
        if (SSL_get_error(bench.ssl, result) != SSL_ERROR_WANT_READ) die("handshake");
        static unsigned char datagram[65536];
        if (!wait_for(100)) { DTLSv1_handle_timeout(bench.ssl); flush(); continue; }
        ssize_t n = recv(bench.fd, datagram, LONGEST, MSG_DONTWAIT);
        if (n <= HEADER) continue;
        bench.record = datagram + HEADER;
        bench.record_size = (size_t)n - HEADER;
    }
    die("handshake takes too long");
}

static void produce(void) {
    bench.began = now();
    while (bench.sent < bench.count) {
        while (bench.sent < bench.count && bench.sent - bench.reported < WINDOW) say(MESSAGE, ++bench.sent, bench.size);
        flush();
        receive(4);
        if (bench.sent - bench.reported < WINDOW) continue;
        if (wait_for(STALL)) receive(4);
        else bench.reported = bench.sent;                   // lost: continue without them
    }
    while (!bench.is_done) {
        say(END, bench.sent, 0);
        flush();
        if (wait_for(STALL)) receive(4);
    }
}

static void collect(void) {
    while (!bench.is_done) {
        if (!wait_for(5000)) die("the client is silent");
        receive(16);
        flush();
    }
    for (double end = now() + 0.2; now() < end;) {          // the answer may be lost
        if (wait_for(50)) receive(16);
        flush();
    }
}

// MARK: set-up

static unsigned client_key(SSL *ssl, const char *hint, char *identity, unsigned most, unsigned char *key, unsigned room) {
    (void)ssl, (void)hint;
    snprintf(identity, most, "mpc/1");
    if (room < KEY) return 0;
    memcpy(key, bench.key, KEY);
    return KEY;
}

static unsigned server_key(SSL *ssl, const char *identity, unsigned char *key, unsigned room) {
    (void)ssl, (void)identity;
    if (room < KEY) return 0;
    memcpy(key, bench.key, KEY);
    return KEY;
}

static SSL *new_engine(void) {
    SSL_CTX *context = SSL_CTX_new(bench.is_server ? DTLS_server_method() : DTLS_client_method());
    if (!context) die("context");
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    if (SSL_CTX_set_cipher_list(context, suite) != 1) die("suite");
    SSL_CTX_set_options(context, SSL_OP_NO_QUERY_MTU | SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_TICKET);
    SSL_CTX_set_psk_client_callback(context, client_key);
    SSL_CTX_set_psk_server_callback(context, server_key);
    SSL *ssl = SSL_new(context);
    BIO_METHOD *method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "datagrams");
    BIO_meth_set_write(method, bio_write);
    BIO_meth_set_read(method, bio_read);
    BIO_meth_set_ctrl(method, bio_control);
    BIO *bio = BIO_new(method);
    BIO_set_init(bio, 1);
    SSL_set_bio(ssl, bio, bio);
    DTLS_set_link_mtu(ssl, LONGEST - HEADER);
    if (bench.is_server) SSL_set_accept_state(ssl);
    else SSL_set_connect_state(ssl);
    return ssl;
}

static void open_socket(void) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int on = 1, room = 4 * 1024 * 1024;
    bench.fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind(bench.fd, (struct sockaddr *)&address, length)) die("bind");
    if (getsockname(bench.fd, (struct sockaddr *)&address, &length)) die("getsockname");
    setsockopt(bench.fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    if (bench.uses_gso && setsockopt(bench.fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on)) die("UDP_GRO");
    bench.to = address;                                     // until the introduction, for the port
}

static void print_introduction(void) {
    printf("INTRO ");
    for (int i = 0; i < KEY; i++) printf("%02x", bench.key[i]);
    printf("%04x\n", ntohs(bench.to.sin_port));
    fflush(stdout);
}

static void read_introduction(void) {
    unsigned char key[KEY];
    unsigned port = 0;
    if (scanf(" INTRO ") != 0) die("introduction");
    for (int i = 0; i < KEY; i++) {
        unsigned byte;
        if (scanf("%2x", &byte) != 1) die("introduction");
        key[i] = (unsigned char)byte;
    }
    if (scanf("%4x", &port) != 1) die("introduction");
    if (bench.is_server) {
        print_introduction();
        memcpy(bench.key, key, KEY);
    }
    bench.to.sin_port = htons((uint16_t)port);
}

static void report(const char *mode) {
    double seconds = bench.ended - bench.began;
    printf("{\"side\": \"%s\", \"mode\": \"%s\", \"size\": %zu, \"count\": %u, \"sent\": %u, \"received\": %u, ",
        bench.is_server ? "server" : "client", mode, bench.size, bench.count, bench.sent, bench.received);
    if (!bench.is_server)
        printf("\"seconds\": %.6f, \"messages_per_s\": %.0f, \"mb_per_s\": %.1f, ", seconds,
            (double)bench.received / seconds, (double)bench.received * (double)bench.size / seconds / 1e6);
    printf("\"cpu_s\": %.6f, \"peak_rss_kib\": %ld, ", cpu_seconds() - bench.cpu_before, peak_kib());
    printf("\"suite\": \"%s\", \"library\": \"%s\"}\n", SSL_CIPHER_standard_name(SSL_get_current_cipher(bench.ssl)),
        OpenSSL_version(OPENSSL_VERSION));
}

int main(int argc, char **argv) {
    if (argc != 5 || (strcmp(argv[2], "sendto") && strcmp(argv[2], "gso"))) {
        fputs("usage: datagrams server|client sendto|gso SIZE COUNT\n", stderr);
        return 64;
    }
    bench.is_server = !strcmp(argv[1], "server");
    bench.uses_gso = !strcmp(argv[2], "gso");
    bench.size = strtoul(argv[3], NULL, 10);
    bench.count = (uint32_t)strtoul(argv[4], NULL, 10);
    if (bench.size < 1 || bench.size > 1150 || bench.count < 1) die("size or count");
    alarm(TIME_LIMIT);
    open_socket();
    if (!bench.is_server) {
        if (RAND_bytes(bench.key, KEY) != 1) die("key");
        print_introduction();
    }
    read_introduction();
    bench.ssl = new_engine();
    shake_hands();
    bench.cpu_before = cpu_seconds();
    (bench.is_server ? collect : produce)();
    report(argv[2]);
    return 0;
}
