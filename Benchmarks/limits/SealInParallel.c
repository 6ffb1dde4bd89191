// SPDX-License-Identifier: Apache-2.0
//
// What one session with seven busy links would gain if it sealed and sent on two threads: in each turn a thread hands half
// of the links to another one, does its own half, and waits for the other. "Handing over" is a turn without any bytes, which
// is what the second thread costs; the model in bench/cores.py takes both.
//
//   SealInParallel TURNS
//
// A turn seals 256 KiB for each link in records of 16 KiB with AES-128-GCM, and sends them by TCP on loopback. A thread of
// its own discards them without copying (MSG_TRUNC): on two cores it competes with both, on one core with everything.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

enum { LINKS = 7, RECORD = 16384, RECORDS = 16, TAG = 16, OVERHEAD = 5 + 1 + TAG, PIECE = RECORDS * (RECORD + OVERHEAD) };

static struct link {
    int socket, peer;
    EVP_CIPHER_CTX *key;
    uint64_t sequence;
    unsigned char out[PIECE];
} links[LINKS];

static unsigned char plain[RECORD + 1];
static int begin, done;
static size_t bytes;

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void report(const char *what, double value, const char *unit) {
    printf("{\"what\": \"%s\", \"value\": %.3f, \"unit\": \"%s\"}\n", what, value, unit);
}

static void seal_and_send(struct link *link) {
    unsigned char nonce[12] = { 0 };
    unsigned char *to = link->out;
    for (int i = 0; i < RECORDS; i++) {
        int length, rest;
        memcpy(nonce, &link->sequence, sizeof link->sequence), link->sequence++;
        if (EVP_EncryptInit_ex(link->key, NULL, NULL, NULL, nonce) != 1
            || EVP_EncryptUpdate(link->key, NULL, &length, to, 5) != 1
            || EVP_EncryptUpdate(link->key, to + 5, &length, plain, RECORD + 1) != 1
            || EVP_EncryptFinal_ex(link->key, to + 5 + length, &rest) != 1
            || EVP_CIPHER_CTX_ctrl(link->key, EVP_CTRL_GCM_GET_TAG, TAG, to + 5 + length) != 1)
            exit(1);
        to += RECORD + OVERHEAD;
    }
    for (size_t sent = 0; sent < PIECE;) {
        ssize_t count = send(link->socket, link->out + sent, PIECE - sent, 0);
        if (count <= 0) exit(1);
        sent += (size_t)count;
    }
}

static void put(int bell) {
    uint64_t one = 1;
    if (write(bell, &one, sizeof one) != sizeof one) exit(1);
}

static void take(int bell) {
    uint64_t count;
    if (read(bell, &count, sizeof count) != sizeof count) exit(1);
}

static void *work(void *unused) {
    for (;;) {
        take(begin);
        for (int i = 1; i < LINKS && bytes; i += 2) seal_and_send(&links[i]);
        put(done);
    }
    return unused;
}

static void *discard(void *unused) {
    int epoll = epoll_create1(0);
    for (int i = 0; i < LINKS; i++) {
        struct epoll_event interest = { .events = EPOLLIN, .data.fd = links[i].peer };
        if (epoll_ctl(epoll, EPOLL_CTL_ADD, links[i].peer, &interest)) exit(1);
    }
    for (;;) {
        struct epoll_event events[LINKS];
        int count = epoll_wait(epoll, events, LINKS, -1);
        for (int i = 0; i < count; i++)
            if (recv(events[i].data.fd, NULL, 1 << 22, MSG_TRUNC) <= 0) exit(1);
    }
    return unused;
}

static void make_links(void) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, LINKS)
        || getsockname(listener, (struct sockaddr *)&address, &size))
        exit(1);
    for (int i = 0; i < LINKS; i++) {
        unsigned char key[16] = { (unsigned char)i };
        links[i].socket = socket(AF_INET, SOCK_STREAM, 0);
        if (connect(links[i].socket, (struct sockaddr *)&address, size)) exit(1);
        links[i].peer = accept(listener, NULL, NULL);
        links[i].key = EVP_CIPHER_CTX_new();
        if (!links[i].key || EVP_EncryptInit_ex(links[i].key, EVP_aes_128_gcm(), NULL, key, NULL) != 1) exit(1);
    }
    close(listener);
}

static double alone(long turns) {
    double start = now();
    for (long turn = 0; turn < turns; turn++)
        for (int i = 0; i < LINKS; i++) seal_and_send(&links[i]);
    return now() - start;
}

static double shared(long turns) {
    double start = now();
    for (long turn = 0; turn < turns; turn++) {
        put(begin);
        for (int i = 0; i < LINKS && bytes; i += 2) seal_and_send(&links[i]);
        take(done);
    }
    return now() - start;
}

int main(int argc, char **argv) {
    long turns = argc > 1 ? strtol(argv[1], NULL, 10) : 400;
    pthread_t thread;
    if (turns < 1) return 64;
    alarm(60);
    begin = eventfd(0, 0), done = eventfd(0, 0);
    make_links();
    if (pthread_create(&thread, NULL, work, NULL) || pthread_create(&thread, NULL, discard, NULL)) return 1;
    report("handing over and waiting", shared(turns) / (double)turns * 1e6, "us");
    bytes = 1;
    alone(turns / 10 + 1);
    double gib = (double)turns * LINKS * RECORDS * RECORD / (1 << 30);
    report("seal and send, one thread", alone(turns) / gib, "s/GiB");
    report("seal and send, two threads", shared(turns) / gib, "s/GiB");
    return 0;
}
