// SPDX-License-Identifier: Apache-2.0
//
// The limit of a connection with keys of its own: what OpenSSL alone takes for what both ends must do, and then what the same
// takes between two processes, with the frames of MPC/1 and the threads of a library. The C twin of the row "connect" does only
// the first of these steps.
//
//   Connect ROUNDS
//
// First both ends run in one thread, over memory, without sockets, threads or frames. "handshake": TLS 1.3 with a certificate on
// both sides, each compared with a digest. "keys": a key of P-256 and a self-signed certificate for each end. "datagrams": DTLS
// 1.2 of Spec 10, with a key of the link.
//
// Then two processes on a core each, over loopback. "as the twin": TCP, TLS and HELLO both ways. "threads": the application's
// thread asks another one, which waits for the sockets, and sleeps until that reports the connection. "link": CONFIRM with HELLO,
// CONFIRM and SELECT, SELECTED, each proof an HMAC. "keys": as above, made before the time is taken.
// "code": each turn of a loop also runs code that does nothing, as much as the library has there beyond the twin. Counted by
// callgrind (x86-64, OpenSSL 3.0), each end: 1.5 million instructions more, in 6,400 different lines, of which a turn has 3,250.
// The count is of whole connections, so a part of that code belongs to the end of the session, after the time is taken.
#define _GNU_SOURCE
#include "lines_of_code.h"
#include "self_signed.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/hmac.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct end { EVP_PKEY *key; X509 *certificate; SSL *link; };

static SSL_CTX *tls, *dtls;
static unsigned char shared[32];

static int is_pinned(X509_STORE_CTX *store, void *unused) {
    unsigned char digest[32];
    (void)unused;
    return X509_digest(X509_STORE_CTX_get0_cert(store), EVP_sha256(), digest, NULL);
}

static unsigned client_key(SSL *s, const char *h, char *id, unsigned n, unsigned char *psk, unsigned m) {
    (void)s, (void)h, (void)m;
    snprintf(id, n, "link");
    return memcpy(psk, shared, sizeof shared), sizeof shared;
}
static unsigned server_key(SSL *s, const char *id, unsigned char *psk, unsigned m) {
    (void)s, (void)id, (void)m;
    return memcpy(psk, shared, sizeof shared), sizeof shared;
}

static void make_contexts(void) {
    tls = SSL_CTX_new(TLS_method()), dtls = SSL_CTX_new(DTLS_method());
    SSL_CTX_set_min_proto_version(tls, TLS1_3_VERSION);
    SSL_CTX_set_max_proto_version(dtls, DTLS1_2_VERSION);
    need(SSL_CTX_set_ciphersuites(tls, "TLS_AES_128_GCM_SHA256") == 1, "suite");
    need(SSL_CTX_set_cipher_list(dtls, "ECDHE-PSK-CHACHA20-POLY1305") == 1, "suite of DTLS");
    SSL_CTX_set_options(dtls, SSL_OP_NO_TICKET | SSL_OP_NO_QUERY_MTU);
    SSL_CTX_set_num_tickets(tls, 0);
    SSL_CTX_set_read_ahead(tls, 1);
    for (int i = 0; i < 2; i++) {
        SSL_CTX_set1_groups_list(i ? dtls : tls, "X25519:P-256");
        SSL_CTX_set_session_cache_mode(i ? dtls : tls, SSL_SESS_CACHE_OFF);
    }
    SSL_CTX_set_verify(tls, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    SSL_CTX_set_cert_verify_callback(tls, is_pinned, NULL);
    SSL_CTX_set_psk_client_callback(dtls, client_key);
    SSL_CTX_set_psk_server_callback(dtls, server_key);
}

static void make_keys(struct end *end) {
    end->key = EVP_EC_gen("P-256");
    end->certificate = self_signed(end->key);
}

/// Completes the handshake of two connections, one flight after the other, and moves the bytes between them.
static void shake_hands(SSL *pair[2]) {
    for (int i = 0; i < 2; i++) {
        SSL_set_bio(pair[i], BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
        i ? SSL_set_accept_state(pair[i]) : SSL_set_connect_state(pair[i]);
    }
    unsigned char bytes[16384];
    for (int turn = 0; turn < 12 && !(SSL_is_init_finished(pair[0]) && SSL_is_init_finished(pair[1])); turn++) {
        SSL *from = pair[turn % 2], *to = pair[1 - turn % 2];
        SSL_do_handshake(from);
        int count = BIO_read(SSL_get_wbio(from), bytes, sizeof bytes);
        if (count > 0) BIO_write(SSL_get_rbio(to), bytes, count);
    }
    need(SSL_is_init_finished(pair[0]) && SSL_is_init_finished(pair[1]), "handshake");
}

static void link_ends(struct end ends[2], int datagrams) {
    SSL *pair[2], *second[2];
    for (int i = 0; i < 2; i++) {
        pair[i] = SSL_new(tls);
        need(SSL_use_cert_and_key(pair[i], ends[i].certificate, ends[i].key, NULL, 1) == 1, "certificate");
    }
    shake_hands(pair);
    for (int i = 0; datagrams && i < 2; i++) {
        SSL_export_keying_material(pair[i], shared, sizeof shared, "limit", 5, NULL, 0, 0);
        second[i] = SSL_new(dtls);
        SSL_ctrl(second[i], DTLS_CTRL_SET_LINK_MTU, 1200, NULL);
    }
    if (datagrams) shake_hands(second);
    for (int i = 0; i < 2; i++) {
        SSL_free(pair[i]);
        if (datagrams) SSL_free(second[i]);
    }
}

static double measure(int rounds, int keys, int datagrams) {
    struct end ends[2];
    double start = 0;
    for (int i = -20; i < rounds; i++) {                    // the first ones fetch the algorithms
        if (i == 0) start = microseconds(CLOCK_PROCESS_CPUTIME_ID);
        for (int e = 0; e < 2 && (keys || i == -20); e++) make_keys(&ends[e]);
        link_ends(ends, datagrams);
        for (int e = 0; e < 2 && (keys || i == rounds - 1); e++) EVP_PKEY_free(ends[e].key), X509_free(ends[e].certificate);
    }
    return (microseconds(CLOCK_PROCESS_CPUTIME_ID) - start) / rounds;
}

// MARK: two processes

// Code for each of six turns of the loop, and such as runs in all of them.
__asm__(".text\n" CODE("code_0", 90) CODE("code_1", 90) CODE("code_2", 90) CODE("code_3", 90) CODE("code_4", 90)
        CODE("code_5", 90) CODE("code_of_all", 374));
void code_0(void), code_1(void), code_2(void), code_3(void), code_4(void), code_5(void), code_of_all(void);

enum { THREADS = 1, LINK = 2, KEYS = 4, CODE = 8, REPEATED = 200000, HELLO = 308, CONFIRM = 40, SELECT = 8 };

/// One process: its loop waits for `bell` or for the socket; its application waits for `linked`.
static struct {
    int is_server, what, epoll, bell, listener, turn;
    struct sockaddr_in address;
    struct end end;
    sem_t linked;
} one;

/// As much as the library runs in a turn: first each line once, then the instructions that repeat.
static void run_code(void) {
    static void (*const code[6])(void) = { code_0, code_1, code_2, code_3, code_4, code_5 };
    uint64_t a = 1, b = 1, c = 1;
    code[one.turn++ % 6]();
    code_of_all();
    for (int i = 0; i < REPEATED / 6; i++) {
        a += b, b ^= c, c += 5;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
        a ^= c;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c));
    }
}

static void await(int fd, unsigned events) {
    struct epoll_event event = { .events = events };
    epoll_ctl(one.epoll, EPOLL_CTL_ADD, fd, &event);
    epoll_wait(one.epoll, &event, 1, -1);
    epoll_ctl(one.epoll, EPOLL_CTL_DEL, fd, &event);
    if (one.what & CODE) run_code();
}

static void receive(SSL *s, int fd, int count) {
    unsigned char bytes[1024];
    while (count > 0) {
        int n = SSL_read(s, bytes, count);
        if (n > 0) count -= n;
        else need(SSL_get_error(s, n) == SSL_ERROR_WANT_READ, "read"), await(fd, EPOLLIN);
    }
}

static void send_bytes(SSL *s, int count) {
    static const unsigned char bytes[1024];
    need(SSL_write(s, bytes, count) == count, "write");
}

/// What an end computes for its own proof, or to check the other's.
static void prove(SSL *s) {
    unsigned char key[32], transcript[32], code[32], hellos[2 * HELLO] = { 0 };
    SSL_export_keying_material(s, key, sizeof key, "limit", 5, NULL, 0, 0);
    SHA256(hellos, sizeof hellos, transcript);
    HMAC(EVP_sha256(), key, sizeof key, transcript, sizeof transcript, code, NULL);
}

static void exchange(SSL *s, int fd) {
    int has_link = one.what & LINK;
    if (!one.is_server) send_bytes(s, HELLO);
    receive(s, fd, HELLO + (has_link && !one.is_server ? CONFIRM : 0));
    if (has_link) prove(s);
    if (one.is_server) send_bytes(s, HELLO + (has_link ? CONFIRM : 0));
    if (!has_link) return;
    if (!one.is_server) prove(s), send_bytes(s, CONFIRM + SELECT);
    receive(s, fd, one.is_server ? CONFIRM + SELECT : SELECT);
    if (one.is_server) prove(s), send_bytes(s, SELECT);
}

static SSL *link_over(int fd) {
    int yes = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
    SSL *s = SSL_new(tls);
    need(SSL_use_cert_and_key(s, one.end.certificate, one.end.key, NULL, 1) == 1, "certificate");
    SSL_set_fd(s, fd);
    one.is_server ? SSL_set_accept_state(s) : SSL_set_connect_state(s);
    for (int n; (n = SSL_do_handshake(s)) != 1;)
        need(SSL_get_error(s, n) == SSL_ERROR_WANT_READ, "handshake"), await(fd, EPOLLIN);
    exchange(s, fd);
    return s;
}

/// Makes one connection. With a loop of its own it reports that before it cleans up.
static void make_connection(void) {
    int fd;
    if (one.is_server) {
        await(one.listener, EPOLLIN);
        fd = accept4(one.listener, NULL, NULL, SOCK_NONBLOCK);
    } else {
        fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);
        if (connect(fd, (struct sockaddr *)&one.address, sizeof one.address)) await(fd, EPOLLOUT);
    }
    SSL *s = link_over(fd);
    if (one.what & THREADS) sem_post(&one.linked);
    SSL_free(s);
    close(fd);
}

static void *run_loop(void *unused) {
    for (uint64_t word;;) {
        one.turn = 0;
        await(one.bell, EPOLLIN);
        if (read(one.bell, &word, sizeof word) < 0) return unused;
        make_connection();
    }
}

/// Connects once, and returns the time that it took.
static double connect_once(void) {
    if (one.what & KEYS) EVP_PKEY_free(one.end.key), X509_free(one.end.certificate), make_keys(&one.end);
    uint64_t word = 1;
    double start = microseconds(CLOCK_MONOTONIC);
    if (!(one.what & THREADS)) make_connection();
    else if (write(one.bell, &word, sizeof word) > 0) sem_wait(&one.linked);
    return microseconds(CLOCK_MONOTONIC) - start;
}

static int ascending(const void *a, const void *b) { return (*(double *)a > *(double *)b) - (*(double *)a < *(double *)b); }

static void use_core(int number) {
    cpu_set_t all, mine;
    sched_getaffinity(0, sizeof all, &all);
    CPU_ZERO(&mine);
    for (int core = 0; core < CPU_SETSIZE; core++)
        if (CPU_ISSET(core, &all) && number-- == 0) CPU_SET(core, &mine);
    if (CPU_COUNT(&mine)) sched_setaffinity(0, sizeof mine, &mine);
}

/// Both processes: the client goes on when the server says that it is about to accept, and then for 2 ms does nothing.
static double run_process(int rounds, int channel, double *times) {
    char byte = 0;
    double start = 0;
    pthread_t thread;
    use_core(one.is_server);
    make_keys(&one.end);
    one.epoll = epoll_create1(0), one.bell = eventfd(0, 0);
    sem_init(&one.linked, 0, 0);
    if (one.what & THREADS) pthread_create(&thread, NULL, run_loop, NULL);
    for (int i = -20; i < rounds; i++) {
        if (i == 0) start = microseconds(CLOCK_PROCESS_CPUTIME_ID);
        need((one.is_server ? write(channel, &byte, 1) : read(channel, &byte, 1)) == 1, "channel");
        if (!one.is_server) usleep(2000);
        double time = connect_once();
        if (i >= 0) times[i] = time;
    }
    usleep(2000);
    return microseconds(CLOCK_PROCESS_CPUTIME_ID) - start;
}

static void measure_pair(int rounds, int what, const char *name) {
    int channel[2];
    double *times = calloc((size_t)rounds, sizeof *times), theirs = 0;
    socklen_t length = sizeof one.address;
    one.what = what, one.listener = socket(AF_INET, SOCK_STREAM, 0);
    one.address = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    need(!bind(one.listener, (struct sockaddr *)&one.address, length) && !listen(one.listener, 16), "listen");
    getsockname(one.listener, (struct sockaddr *)&one.address, &length);
    need(!socketpair(AF_UNIX, SOCK_STREAM, 0, channel), "socketpair");
    for (int side = 0; side < 2; side++) {
        if (fork()) continue;
        one.is_server = side;
        double used = run_process(rounds, channel[side], times);
        if (side) need(write(channel[1], &used, sizeof used) == sizeof used, "channel");
        else need(read(channel[0], &theirs, sizeof theirs) == sizeof theirs, "channel");
        if (side) exit(0);
        qsort(times, (size_t)rounds, sizeof *times, ascending);
        printf("{\"what\": \"%s: time\", \"value\": %.0f, \"unit\": \"us\"}\n", name, times[rounds / 2]);
        printf("{\"what\": \"%s: processor\", \"value\": %.0f, \"unit\": \"us\"}\n", name, (used + theirs) / rounds);
        exit(0);
    }
    close(one.listener), close(channel[0]), close(channel[1]);
    for (int status; wait(&status) > 0;) need(status == 0, "process");
    free(times);
}

int main(int argc, char **argv) {
    int rounds = argc > 1 ? atoi(argv[1]) : 300;
    make_contexts();
    static const char *const names[] = { "handshake", "handshake, keys", "handshake, datagrams", "handshake, keys, datagrams" };
    for (int i = 0; i < 4; i++)
        printf("{\"what\": \"%s, both ends\", \"value\": %.0f, \"unit\": \"us\"}\n", names[i],
            measure(rounds, i & 1, i >> 1));
    fflush(stdout);
    measure_pair(rounds, 0, "two processes, as the twin");
    measure_pair(rounds, THREADS, "with threads");
    measure_pair(rounds, THREADS | LINK, "with threads, link");
    measure_pair(rounds, THREADS | LINK | KEYS, "with threads, link, keys");
    measure_pair(rounds, THREADS | LINK | KEYS | CODE, "with threads, link, keys, code");
    return 0;
}
