// SPDX-License-Identifier: Apache-2.0
//
// The least processor time of an idle link: PING and PONG as records of AES-128-GCM between two processes that sleep in between,
// without and with the pings of a datagram path, in bare C. Each figure is for one end and for a minute, in which the keep-alive
// interval of 3 s makes 20 exchanges.
//
//   IdleLink SECONDS
//
// An exchange every 300 ms has caches nearly as cold as one every 3 s; one every 2 ms shows what that makes. "Only the time" is a
// process that sleeps, and does nothing when it wakes.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { HEADER = 5, PLAIN = 17, TAG = 16, RECORD = HEADER + PLAIN + TAG };

static double processor_time(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

enum { EXCHANGES = 20 };

static void report(const char *what, int interval, double each) {
    double value = each * EXCHANGES * 1e3;
    printf("{\"what\": \"%s, every %d ms\", \"value\": %.2f, \"unit\": \"ms/min\"}\n", what, interval, value);
    fflush(stdout);
}

static EVP_CIPHER_CTX *sealing, *opening;
static unsigned char nonce[12], record[RECORD], plain[PLAIN];

static void make_keys(void) {
    static const unsigned char key[16] = { 1 };
    sealing = EVP_CIPHER_CTX_new(), opening = EVP_CIPHER_CTX_new();
    if (!sealing || !opening || EVP_EncryptInit_ex(sealing, EVP_aes_128_gcm(), NULL, key, nonce) != 1
        || EVP_DecryptInit_ex(opening, EVP_aes_128_gcm(), NULL, key, nonce) != 1)
        exit(1);
}

/// Always with the same nonce: nothing here is secret.
static void seal_and_send(int socket, unsigned char kind) {
    int length;
    plain[0] = kind;
    if (EVP_EncryptInit_ex(sealing, NULL, NULL, NULL, nonce) != 1
        || EVP_EncryptUpdate(sealing, NULL, &length, record, HEADER) != 1
        || EVP_EncryptUpdate(sealing, record + HEADER, &length, plain, PLAIN) != 1
        || EVP_EncryptFinal_ex(sealing, record + HEADER + PLAIN, &length) != 1
        || EVP_CIPHER_CTX_ctrl(sealing, EVP_CTRL_GCM_GET_TAG, TAG, record + HEADER + PLAIN) != 1
        || send(socket, record, RECORD, MSG_NOSIGNAL) != RECORD)
        exit(1);
}

static unsigned char receive_and_open(int socket) {
    int length;
    if (recv(socket, record, RECORD, 0) != RECORD) exit(1);
    if (EVP_DecryptInit_ex(opening, NULL, NULL, NULL, nonce) != 1
        || EVP_DecryptUpdate(opening, NULL, &length, record, HEADER) != 1
        || EVP_DecryptUpdate(opening, plain, &length, record + HEADER, PLAIN) != 1
        || EVP_CIPHER_CTX_ctrl(opening, EVP_CTRL_GCM_SET_TAG, TAG, record + HEADER + PLAIN) != 1
        || EVP_DecryptFinal_ex(opening, plain + PLAIN, &length) != 1)
        exit(1);
    return plain[0];
}

static void open_pair(int type, int ends[2]) {
    struct sockaddr_in addresses[2];
    socklen_t size = sizeof *addresses;
    for (int i = 0; i < 2; i++) {
        addresses[i] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        ends[i] = socket(AF_INET, type, 0);
        if (bind(ends[i], (struct sockaddr *)&addresses[i], size)
            || getsockname(ends[i], (struct sockaddr *)&addresses[i], &size))
            exit(1);
    }
    if (type == SOCK_STREAM && listen(ends[1], 1)) exit(1);
    if (connect(ends[0], (struct sockaddr *)&addresses[1], size)) exit(1);
    if (type == SOCK_DGRAM) {
        if (connect(ends[1], (struct sockaddr *)&addresses[0], size)) exit(1);
        return;
    }
    int listener = ends[1];
    if ((ends[1] = accept(listener, NULL, NULL)) < 0) exit(1);
    close(listener);
}

static void answer(int socket, bool pings) {
    seal_and_send(socket, 'A');
    if (pings) seal_and_send(socket, 'P');
}

/// One end: `stream`, and `datagrams` unless it is -1. The one that begins pings when its interval is over; the other answers, and
/// with the answer on the path it sends its own ping. Returns the processor time of one exchange.
static double run(int stream, int datagrams, bool begins, int count, int interval) {
    int epoll = epoll_create1(0), idle = epoll_create1(0), ends[] = { stream, datagrams };
    struct epoll_event events[2];
    for (int i = 0; i < 2 && ends[i] >= 0; i++) {
        struct epoll_event interest = { .events = EPOLLIN, .data.fd = ends[i] };
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, ends[i], &interest)) exit(1);
    }
    double before = 0;
    const int expected = datagrams < 0 ? 1 : 3;
    int arrived = 0;
    // The first exchange is not counted.
    for (int i = 0; i <= count; i++) {
        if (i == 1) before = processor_time();
        if (begins) {
            epoll_wait(idle, events, 1, interval);
            seal_and_send(stream, 'P');
            if (datagrams >= 0) seal_and_send(datagrams, 'P');
        }
        while (arrived < expected) {
            int found = epoll_wait(epoll, events, 2, 10000);
            if (found <= 0) exit(1);
            for (int j = 0; j < found; j++, arrived++) {
                int socket = events[j].data.fd;
                if (receive_and_open(socket) == 'P') answer(socket, socket == datagrams && !begins);
            }
        }
        arrived -= expected;
    }
    close(epoll), close(idle);
    return (processor_time() - before) / count;
}

static double sleep_only(int count, int interval) {
    struct epoll_event event;
    int epoll = epoll_create1(0);
    double before = processor_time();
    for (int i = 0; i < count; i++) epoll_wait(epoll, &event, 1, interval);
    close(epoll);
    return (processor_time() - before) / count;
}

/// Returns the processor time of one exchange, the mean of both ends.
static double both(bool has_path, int count, int interval, double *shared) {
    int stream[2], datagrams[2] = { -1, -1 }, status;
    open_pair(SOCK_STREAM, stream);
    if (has_path) open_pair(SOCK_DGRAM, datagrams);
    pid_t child = fork();
    if (child == 0) {
        *shared = run(stream[1], datagrams[1], false, count, interval);
        _exit(0);
    }
    double own = run(stream[0], datagrams[0], true, count, interval);
    if (waitpid(child, &status, 0) != child || status) exit(1);
    for (int i = 0; i < 2; i++) {
        close(stream[i]);
        if (has_path) close(datagrams[i]);
    }
    return (own + *shared) / 2;
}

int main(int argc, char **argv) {
    double seconds = argc > 1 ? strtod(argv[1], NULL) : 6;
    double *shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (!(seconds > 0) || shared == MAP_FAILED) return 64;
    alarm(120);
    make_keys();
    const int intervals[] = { 300, 2 };
    for (int i = 0; i < 2; i++) {
        int count = (int)(seconds * 1e3 / intervals[i]) + 1;
        report("only the time", intervals[i], sleep_only(count, intervals[i]));
        report("PING and PONG", intervals[i], both(false, count, intervals[i], shared));
        report("the same with the pings of a path", intervals[i], both(true, count, intervals[i], shared));
    }
    return 0;
}
