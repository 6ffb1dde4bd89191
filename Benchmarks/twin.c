// SPDX-License-Identifier: Apache-2.0
//
// The baseline of `make bench`: the speed of careful C with only libssl, doing the work of one link.
//
//   twin server|client bulk|pipelined|pingpong|connect|fanout|file|files SIZE COUNT
//
// Both ends print `INTRO <hex>` (SHA-256 of their certificate and their port) and read the other's, the client first;
// the process that starts them relays the lines. In `fanout` one client sends COUNT messages to each of seven servers;
// in `file` and `files` it sends COUNT files of SIZE bytes, see files.h.
// Then they talk over TLS 1.3 on 127.0.0.1, print one line of JSON and end. Where the speed comes from: frames are
// packed into full records, records into sends of 64 KiB, one receive takes up to 128 KiB, and libssl reaches both
// buffers through a BIO of our own (measured: 5 to 9 % faster than a pair of memory BIOs).
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "measure.h"

enum {
    HEADER = 8,             // length u24 | kind u8 | channel u32
    LONGEST = 65536,        // payload of a frame
    RECORD = 16384,         // plaintext of a TLS record
    SEND = 64 * 1024,       // ciphertext that is worth a send
    RECEIVE = 128 * 1024,
    RECEIVES = 16,          // in one turn
    HELLO_SIZE = 300,
    DIGEST = 32,
    LINKS = 7,              // of the client in fanout
    TIME_LIMIT = 120,       // seconds; nothing here lasts longer
};
enum kind { HELLO = 0x01, DONE = 0x26, MESSAGE = 0x10, OPENING = 0x11, CHECKSUM = 0x12 };
enum mode { BULK, PIPELINED, PINGPONG, CONNECT, FANOUT, FILE_IN_TURN, FILES_AT_ONCE };
static const char suite[] = "TLS_AES_128_GCM_SHA256";
static const char *const mode_names[] = { "bulk", "pipelined", "pingpong", "connect", "fanout", "file", "files" };

struct link {
    int fd, epoll;
    SSL *ssl;
    bool established, closed, done, watches_output;
    int receives_left;                                      // in this turn
    long sent;
    size_t input_at, input_end, output_end, stage_end, plain_end, joined_end, joined_size;
    unsigned char *joined;                                  // the beginning of an incomplete message
    enum kind joined_kind;
    unsigned char input[RECEIVE];                           // ciphertext received
    unsigned char output[SEND + LONGEST + 4 * 1024];        // ciphertext to send
    unsigned char stage[RECORD];                            // frames of a record that is not full
    unsigned char plain[RECORD + HEADER];                   // not parsed yet
};

static struct {
    bool is_server;
    enum mode mode;
    size_t size;
    long count, sent, received;
    long long bytes;
    double began, ended, cpu_before;
    double *latencies;                                      // of each round trip or connect, in seconds
    int peers;                                              // peers that have introduced themselves
    unsigned char mine[DIGEST], theirs[LINKS][DIGEST];
    char congestion[16];
    char group[32];  // of the key exchange
} bench;

static void die(const char *what) {
    fprintf(stderr, "twin: %s: %s\n", what, errno ? strerror(errno) : "failed");
    ERR_print_errors_fp(stderr);
    exit(1);
}

// MARK: records and the socket

/// Sends pending output until the socket is full.
static void flush(struct link *l) {
    size_t at = 0;
    while (at < l->output_end) {
        ssize_t n = send(l->fd, l->output + at, l->output_end - at, MSG_NOSIGNAL);
        if (n < 0 && errno == EINTR) continue;
        if (n < 0 && errno == EAGAIN) break;
        if (n < 0 && (l->closed || l->done)) n = (ssize_t)(l->output_end - at);     // no reader waits for it
        if (n < 0) die("send");
        at += (size_t)n;
    }
    memmove(l->output, l->output + at, l->output_end - at);
    l->output_end -= at;
}

/// libssl's output. It never blocks: `send_frame` begins a frame only when there is room for all of it.
static int bio_write(BIO *bio, const char *bytes, int count) {
    struct link *l = BIO_get_data(bio);
    if (l->output_end + (size_t)count > sizeof l->output) die("more output than expected");
    memcpy(l->output + l->output_end, bytes, (size_t)count);
    l->output_end += (size_t)count;
    return count;
}

/// libssl's input: from the buffer, which one receive fills for several records.
static int bio_read(BIO *bio, char *into, int count) {
    struct link *l = BIO_get_data(bio);
    BIO_clear_retry_flags(bio);
    if (l->input_at == l->input_end) {
        ssize_t n = -1;
        errno = EAGAIN;
        if (l->receives_left-- > 0) n = recv(l->fd, l->input, sizeof l->input, 0);
        if (n < 0 && errno != EAGAIN && errno != EINTR) die("recv");
        if (n < 0) return BIO_set_retry_read(bio), -1;
        if (n == 0) return 0;
        if ((size_t)n < sizeof l->input) l->receives_left = 0;      // that was all; epoll reports more
        l->input_at = 0;
        l->input_end = (size_t)n;
    }
    size_t taken = l->input_end - l->input_at;
    if (taken > (size_t)count) taken = (size_t)count;
    memcpy(into, l->input + l->input_at, taken);
    l->input_at += taken;
    return (int)taken;
}

static long bio_control(BIO *bio, int command, long number, void *pointer) {
    (void)bio, (void)number, (void)pointer;
    return command == BIO_CTRL_FLUSH;
}

static BIO *new_bio(struct link *l) {
    static BIO_METHOD *method;
    if (!method) {
        method = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "twin");
        BIO_meth_set_write(method, bio_write);
        BIO_meth_set_read(method, bio_read);
        BIO_meth_set_ctrl(method, bio_control);
    }
    BIO *bio = BIO_new(method);
    BIO_set_data(bio, l);
    BIO_set_init(bio, 1);
    return bio;
}

// MARK: frames

static void write_record(struct link *l, const unsigned char *plain, size_t count) {
    ERR_clear_error();
    if (count > 0 && SSL_write(l->ssl, plain, (int)count) != (int)count) die("SSL_write");
    if (l->output_end >= SEND) flush(l);
}

/// Copies into the record that is being filled; bytes that fill a whole record by themselves are not copied.
static void append(struct link *l, const unsigned char *bytes, size_t count) {
    while (count > 0) {
        if (l->stage_end == 0 && count >= RECORD) {
            write_record(l, bytes, RECORD);
            bytes += RECORD, count -= RECORD;
            continue;
        }
        size_t part = RECORD - l->stage_end < count ? RECORD - l->stage_end : count;
        memcpy(l->stage + l->stage_end, bytes, part);
        l->stage_end += part, bytes += part, count -= part;
        if (l->stage_end == RECORD) {
            write_record(l, l->stage, RECORD);
            l->stage_end = 0;
        }
    }
}

static bool has_room(const struct link *l) { return l->output_end < SEND; }

static void send_frame(struct link *l, enum kind kind, const unsigned char *payload, size_t count) {
    const unsigned char header[HEADER] = {
        (unsigned char)(count >> 16), (unsigned char)(count >> 8), (unsigned char)count, (unsigned char)kind,
    };
    append(l, header, sizeof header);
    append(l, payload, count);
}

static void take(struct link *l, enum kind kind, unsigned char *message, size_t count);

/// Every message gets memory of its own, as the receiver of a library would get it.
static void parse(struct link *l) {
    size_t at = 0;
    while (l->plain_end - at >= HEADER) {
        const unsigned char *p = l->plain + at;
        size_t count = (size_t)p[0] << 16 | (size_t)p[1] << 8 | p[2], there = l->plain_end - at - HEADER;
        if (count > LONGEST || count == 0) die("frame length");
        unsigned char *message = malloc(count);
        if (!message) die("malloc");
        if (there < count) {                                // the rest is read directly into place
            memcpy(message, p + HEADER, there);
            l->joined = message, l->joined_end = there, l->joined_size = count, l->joined_kind = (enum kind)p[3];
            at = l->plain_end;
        } else {
            memcpy(message, p + HEADER, count);
            at += HEADER + count;
            take(l, (enum kind)p[3], message, count);
        }
    }
    memmove(l->plain, l->plain + at, l->plain_end - at);
    l->plain_end -= at;
}

/// Reads until libssl needs more input than is available.
static void pull(struct link *l) {
    l->receives_left = RECEIVES;
    for (;;) {
        bool joins = l->joined != NULL;
        unsigned char *into = joins ? l->joined + l->joined_end : l->plain + l->plain_end;
        size_t room = joins ? l->joined_size - l->joined_end : sizeof l->plain - l->plain_end;
        ERR_clear_error();
        int n = SSL_read(l->ssl, into, (int)room);
        if (n <= 0) {
            int error = SSL_get_error(l->ssl, n);
            if (error == SSL_ERROR_WANT_READ) return;
            if (error != SSL_ERROR_ZERO_RETURN) die("SSL_read");
            l->closed = true;
            return;
        }
        if (!joins) {
            l->plain_end += (size_t)n;
            parse(l);
        } else if ((l->joined_end += (size_t)n) == l->joined_size) {
            unsigned char *message = l->joined;
            l->joined = NULL;
            take(l, l->joined_kind, message, l->joined_size);
        }
    }
}

// MARK: work

static unsigned char payload[LONGEST];

static bool moves_files(void) { return bench.mode == FILE_IN_TURN || bench.mode == FILES_AT_ONCE; }

#include "files.h"

static void greet(struct link *l) {
    if (bench.mode == CONNECT) send_frame(l, HELLO, payload, HELLO_SIZE);
    else if (!bench.is_server && bench.began == 0) bench.began = now();
}

/// Returns whether the client may send now: everything, or one ping after each answer.
static bool has_more(const struct link *l) {
    if (bench.is_server || bench.mode == CONNECT || !l->established) return false;
    if (moves_files()) return has_more_of_files();
    if (l->sent == bench.count) return false;
    return bench.mode != PINGPONG || bench.sent == bench.received;
}

/// Does the client's part of a turn: as many messages as the socket takes.
static void produce(struct link *l) {
    while (has_more(l) && has_room(l)) {
        if (moves_files()) {
            send_piece(l);
            continue;
        }
        if (bench.mode == PINGPONG) bench.latencies[bench.sent] = now();
        send_frame(l, MESSAGE, payload, bench.size);
        bench.sent++, l->sent++;
    }
}

static void take(struct link *l, enum kind kind, unsigned char *message, size_t count) {
    if (moves_files()) {
        if (bench.is_server) store_piece(l, kind, message, count);
        else if (kind != DONE) die("frame kind");
        else l->done = ++bench.received == bench.count;
        if (l->done) bench.ended = now();
        free(message);
        return;
    }
    bool counts = bench.mode == CONNECT || bench.mode == PINGPONG || bench.is_server;
    if (counts && count != (bench.mode == CONNECT ? HELLO_SIZE : bench.size)) die("message length");
    if (counts) bench.bytes += (long long)count, bench.received++;
    switch (bench.mode) {
    case BULK:
    case PIPELINED:
    case FANOUT:
        if (bench.is_server && bench.received == bench.count) send_frame(l, DONE, payload, 8);
        l->done = !bench.is_server;
        break;
    case PINGPONG:
        if (bench.is_server) send_frame(l, MESSAGE, message, count);
        else bench.latencies[bench.received - 1] = now() - bench.latencies[bench.received - 1];
        l->done = !bench.is_server && bench.received == bench.count;
        break;
    case CONNECT:
        l->done = !bench.is_server;
        break;
    case FILE_IN_TURN:
    case FILES_AT_ONCE:
        break;                                              // taken above
    }
    if (l->done) bench.ended = now();
    free(message);
}

// MARK: the loop

static void turn(struct link *l) {
    flush(l);
    if (!l->established) {
        l->receives_left = RECEIVES;
        ERR_clear_error();
        int n = SSL_do_handshake(l->ssl);
        if (n != 1 && SSL_get_error(l->ssl, n) != SSL_ERROR_WANT_READ) die("handshake");
        l->established = n == 1;
        if (l->established) greet(l);
    }
    if (l->established) pull(l);
    produce(l);
    flush(l);
    if (l->output_end == 0 && l->stage_end > 0) {           // the end of the turn closes the record
        write_record(l, l->stage, l->stage_end);
        l->stage_end = 0;
        flush(l);
    }
}

/// Returns whether there is output. Evaluated after the last flush of a turn: a flush that empties the output must not
/// end the sending.
static bool wants_output(const struct link *l) { return l->output_end > 0 || has_more(l); }

static void watch(struct link *l, int operation) {
    l->watches_output = wants_output(l);
    struct epoll_event interest = { .events = EPOLLIN | (l->watches_output ? EPOLLOUT : 0), .data.ptr = l };
    if (epoll_ctl(l->epoll, operation, l->fd, &interest)) die("epoll_ctl");
}

static void run(struct link **links, int count) {
    struct epoll_event events[LINKS];
    int open = count, epoll = links[0]->epoll;
    for (int i = 0; i < count; i++) {
        turn(links[i]);
        watch(links[i], EPOLL_CTL_ADD);
    }
    while (open > 0) {
        int ready = epoll_wait(epoll, events, LINKS, -1);
        if (ready < 0 && errno != EINTR) die("epoll_wait");
        for (int i = 0; i < ready; i++) {
            struct link *l = events[i].data.ptr;
            turn(l);
            if (l->done || l->closed) {
                open--;
                epoll_ctl(l->epoll, EPOLL_CTL_DEL, l->fd, NULL);
            } else if (l->watches_output != wants_output(l)) {
                watch(l, EPOLL_CTL_MOD);
            }
        }
    }
}

static struct link *new_link(SSL_CTX *context, int epoll, int fd) {
    struct link *l = calloc(1, sizeof *l);
    int on = 1;
    socklen_t length = sizeof bench.congestion - 1;
    if (!l || fcntl(fd, F_SETFL, O_NONBLOCK)) die("link");
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    getsockopt(fd, IPPROTO_TCP, TCP_CONGESTION, bench.congestion, &length);
    l->fd = fd, l->epoll = epoll;
    l->ssl = SSL_new(context);
    BIO *bio = new_bio(l);
    SSL_set_bio(l->ssl, bio, bio);
    if (bench.is_server) SSL_set_accept_state(l->ssl);
    else SSL_set_connect_state(l->ssl);
    return l;
}

static void free_link(struct link *l) {
    const char *group = SSL_group_to_name(l->ssl, SSL_get_negotiated_group(l->ssl));
    snprintf(bench.group, sizeof bench.group, "%s", group ? group : "");
    SSL_shutdown(l->ssl);
    flush(l);
    close(l->fd);
    SSL_free(l->ssl);
    free(l->joined);
    free(l);
}

// MARK: trust

/// Returns whether the certificate is exactly that of the introduction; nothing else about it matters.
static int is_pinned(X509_STORE_CTX *store, void *unused) {
    (void)unused;
    unsigned char digest[DIGEST];
    X509 *leaf = X509_STORE_CTX_get0_cert(store);
    if (!leaf || !X509_digest(leaf, EVP_sha256(), digest, NULL)) return 0;
    for (int i = 0; i < bench.peers; i++)
        if (!memcmp(digest, bench.theirs[i], DIGEST)) return 1;
    return 0;
}

static SSL_CTX *new_context(void) {
    SSL_CTX *context = SSL_CTX_new(bench.is_server ? TLS_server_method() : TLS_client_method());
    EVP_PKEY *key = EVP_EC_gen("P-256");
    X509 *certificate = X509_new();
    if (!context || !key || !certificate) die("context");
    X509_set_version(certificate, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(certificate), 1);
    X509_gmtime_adj(X509_getm_notBefore(certificate), -3600);
    X509_gmtime_adj(X509_getm_notAfter(certificate), 86400);
    X509_NAME_add_entry_by_txt(
        X509_get_subject_name(certificate), "CN", MBSTRING_ASC, (const unsigned char *)"twin", -1, -1, 0);
    X509_set_issuer_name(certificate, X509_get_subject_name(certificate));
    X509_set_pubkey(certificate, key);
    if (!X509_sign(certificate, key, EVP_sha256())) die("sign");
    X509_digest(certificate, EVP_sha256(), bench.mine, NULL);

    SSL_CTX_use_certificate(context, certificate);
    SSL_CTX_use_PrivateKey(context, key);
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    SSL_CTX_set_ciphersuites(context, suite);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(context, is_pinned, NULL);
    SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
    SSL_CTX_set_num_tickets(context, 0);
    X509_free(certificate);
    EVP_PKEY_free(key);
    return context;
}

static void print_introduction(int port) {
    printf("INTRO ");
    for (int i = 0; i < DIGEST; i++) printf("%02x", bench.mine[i]);
    printf("%04x\n", port);
    fflush(stdout);
}

/// Returns the other's port.
static int read_introduction(void) {
    unsigned port = 0;
    if (scanf(" INTRO ") != 0) die("introduction");
    for (int i = 0; i < DIGEST; i++) {
        unsigned byte;
        if (scanf("%2x", &byte) != 1) die("introduction");
        bench.theirs[bench.peers][i] = (unsigned char)byte;
    }
    if (scanf("%4x", &port) != 1) die("introduction");
    bench.peers++;
    return (int)port;
}

// MARK: both programs

static struct sockaddr_in loopback(int port) {
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons((uint16_t)port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
}

static void serve(SSL_CTX *context, int epoll, long links) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 16)) die("listen");
    if (getsockname(listener, (struct sockaddr *)&address, &length)) die("getsockname");
    read_introduction();
    print_introduction(ntohs(address.sin_port));
    bench.cpu_before = cpu_seconds();
    while (links-- > 0) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0) die("accept");
        struct link *l = new_link(context, epoll, fd);
        run(&l, 1);
        free_link(l);
    }
}

static struct link *dial(SSL_CTX *context, int epoll, struct sockaddr_in address) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) die("connect");
    return new_link(context, epoll, fd);
}

static void call(SSL_CTX *context, int epoll, long links) {
    print_introduction(0);
    struct sockaddr_in address = loopback(read_introduction());
    bench.cpu_before = cpu_seconds();
    for (long i = 0; i < links; i++) {
        double start = now();
        struct link *l = dial(context, epoll, address);
        run(&l, 1);
        free_link(l);
        if (bench.mode != CONNECT) continue;
        bench.latencies[i] = bench.ended - start;
        bench.sent++;
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);  // the server should wait, not clean up
    }
}

static void fan_out(SSL_CTX *context, int epoll, long unused) {
    (void)unused;
    struct sockaddr_in addresses[LINKS];
    struct link *links[LINKS];
    print_introduction(0);
    for (int i = 0; i < LINKS; i++) addresses[i] = loopback(read_introduction());
    bench.cpu_before = cpu_seconds();
    for (int i = 0; i < LINKS; i++) links[i] = dial(context, epoll, addresses[i]);
    run(links, LINKS);
    for (int i = 0; i < LINKS; i++) free_link(links[i]);
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void report(void) {
    double cpu = cpu_seconds() - bench.cpu_before;
    double seconds = bench.ended - bench.began, sum = 0;
    printf("{\"side\": \"%s\", \"mode\": \"%s\", \"size\": %zu, \"count\": %ld, ",
        bench.is_server ? "server" : "client", mode_names[bench.mode], bench.size, bench.count);
    printf("\"sent\": %ld, \"received\": %ld, ", bench.sent, bench.received);
    if (!bench.is_server && bench.mode != PINGPONG && bench.mode != CONNECT)
        printf("\"seconds\": %.6f, \"messages_per_s\": %.0f, \"mb_per_s\": %.1f, ", seconds,
            (double)bench.sent / seconds, (double)bench.sent * (double)bench.size / seconds / 1e6);
    if (!bench.is_server && (bench.mode == PINGPONG || bench.mode == CONNECT)) {
        for (long i = 0; i < bench.count; i++) sum += bench.latencies[i];
        qsort(bench.latencies, (size_t)bench.count, sizeof *bench.latencies, ascending);
        printf("\"seconds\": %.6f, \"mean_us\": %.1f, \"p50_us\": %.1f, \"p99_us\": %.1f, ", sum,
            sum / (double)bench.count * 1e6, bench.latencies[bench.count / 2] * 1e6,
            bench.latencies[bench.count * 99 / 100] * 1e6);
    }
    printf("\"cpu_s\": %.6f, \"peak_rss_kib\": %ld, \"suite\": \"%s\", ", cpu, peak_kib(), suite);
    printf("\"congestion\": \"%s\", \"group\": \"%s\", ", bench.congestion, bench.group);
    printf("\"library\": \"%s\"}\n", OpenSSL_version(OPENSSL_VERSION));
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "version")) return puts(OpenSSL_version(OPENSSL_VERSION)) < 0;
    if (argc != 5) {
        fputs("usage: twin server|client bulk|pipelined|pingpong|connect|fanout|file|files SIZE COUNT\n"
              "       twin version\n", stderr);
        return 64;
    }
    bench.is_server = !strcmp(argv[1], "server");
    while (strcmp(argv[2], mode_names[bench.mode])) if (++bench.mode > FILES_AT_ONCE) die("mode");
    bench.size = strtoul(argv[3], NULL, 10);
    bench.count = strtol(argv[4], NULL, 10);
    if (bench.size < 1 || (bench.size > LONGEST && !moves_files()) || bench.count < 1) die("size or count");
    alarm(TIME_LIMIT);
    bool measures_each = !bench.is_server && (bench.mode == PINGPONG || bench.mode == CONNECT);
    bench.latencies = calloc(measures_each ? (size_t)bench.count : 1, sizeof *bench.latencies);

    if (moves_files()) open_folder();
    SSL_CTX *context = new_context();
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    long links = bench.mode == CONNECT ? bench.count : 1;
    (bench.is_server ? serve : bench.mode == FANOUT ? fan_out : call)(context, epoll, links);
    report();
    if ((bench.is_server || measures_each || moves_files()) && bench.received != bench.count) die("messages are missing");
    SSL_CTX_free(context);
    free(bench.latencies);
    return 0;
}
