// SPDX-License-Identifier: Apache-2.0
//
// The price of threads, and of length, for messages that are sealed, sent, received and opened, in C. "In one thread" one process seals each
// message and sends it, and the other receives, opens and forgets it, as a C program would. "From and to a thread" the message
// comes from a second thread of the sender and goes to a second thread of the receiver, through queues of at most 1 MiB with
// one lock and one wake-up for all that waits: what any library does whose application is not the thread of the socket. "Of
// 16 MiB, in one thread" each message is too long for the processor's caches, and is opened into new memory. Each process has one
// core.
//
//   HandOver [MEBIBYTES]
#define _GNU_SOURCE
#include "processes.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 65536, RECORD = 16384, TAG = 16, SEALED = PIECE / RECORD * (RECORD + TAG), LIMIT = 16, LONG = 256 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t filled, drained;
    unsigned char *pieces[LIMIT];
    int count;
} Queue;

static long pieces = (512 << 20) / PIECE;
static Queue outgoing = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .drained = PTHREAD_COND_INITIALIZER };
static Queue incoming = { .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER, .drained = PTHREAD_COND_INITIALIZER };
static volatile unsigned long sum;

static void put(Queue *queue, unsigned char *piece) {
    pthread_mutex_lock(&queue->lock);
    // A sender that waited goes on when half is free again, so that it does not wait for each.
    if (queue->count == LIMIT)
        while (queue->count > LIMIT / 2) pthread_cond_wait(&queue->drained, &queue->lock);
    queue->pieces[queue->count++] = piece;
    if (queue->count == 1) pthread_cond_signal(&queue->filled);
    pthread_mutex_unlock(&queue->lock);
}

static int take_all(Queue *queue, unsigned char **taken) {
    pthread_mutex_lock(&queue->lock);
    while (queue->count == 0) pthread_cond_wait(&queue->filled, &queue->lock);
    int count = queue->count;
    memcpy(taken, queue->pieces, (size_t)count * sizeof *taken);
    queue->count = 0;
    pthread_cond_signal(&queue->drained);
    pthread_mutex_unlock(&queue->lock);
    return count;
}

static EVP_CIPHER_CTX *cipher(int seals) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    need(EVP_CipherInit_ex(context, EVP_aes_128_gcm(), NULL, (unsigned char *)"0123456789abcdef", NULL, seals) == 1, "cipher");
    return context;
}

static void transform(EVP_CIPHER_CTX *context, int seals, unsigned char *plain, unsigned char *sealed, long number) {
    int count;
    for (int i = 0; i < PIECE / RECORD; i++) {
        unsigned char nonce[12] = { 0 }, *clear = plain + i * RECORD, *closed = sealed + i * (RECORD + TAG);
        memcpy(nonce, &number, sizeof number);
        nonce[11] = (unsigned char)i;
        need(EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, -1) == 1, "nonce");
        if (!seals) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG, closed + RECORD);
        need(EVP_CipherUpdate(context, seals ? closed : clear, &count, seals ? clear : closed, RECORD) == 1, "update");
        need(EVP_CipherFinal_ex(context, NULL, &count) == 1, "tag");
        if (seals) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, closed + RECORD);
    }
}

static void *produce(void *unused) {
    static unsigned char message[PIECE];
    for (long i = 0; i < pieces; i++) put(&outgoing, message);
    return unused;
}

static void *consume(void *unused) {
    unsigned char *taken[LIMIT];
    for (long i = 0; i < pieces;)
        for (int k = 0, count = take_all(&incoming, taken); k < count; k++, i++) {
            sum += taken[k][0];
            free(taken[k]);
        }
    return unused;
}

// `length`: the pieces of a message.
static void send_all(int end, int is_handed, long length) {
    static unsigned char sealed[SEALED];
    unsigned char *message = calloc((size_t)length, PIECE), *taken[LIMIT];
    need(message != NULL, "message");
    memset(message, 1, (size_t)length * PIECE);
    EVP_CIPHER_CTX *context = cipher(1);
    pthread_t thread;
    if (is_handed) need(pthread_create(&thread, NULL, produce, NULL) == 0, "thread");
    for (long i = 0; i < pieces;) {
        int count = is_handed ? take_all(&outgoing, taken) : 1;
        if (!is_handed) taken[0] = message + i % length * PIECE;
        for (int k = 0; k < count; k++, i++) {
            transform(context, 1, taken[k], sealed, i);
            need(send(end, sealed, SEALED, 0) == SEALED, "send");
        }
    }
    if (is_handed) pthread_join(thread, NULL);
}

static void receive_all(int end, int is_handed, long length) {
    static unsigned char sealed[2 * SEALED], *message;
    EVP_CIPHER_CTX *context = cipher(0);
    pthread_t thread;
    if (is_handed) need(pthread_create(&thread, NULL, consume, NULL) == 0, "thread");
    size_t filled = 0;
    for (long i = 0; i < pieces; i++) {
        while (filled < SEALED) {
            ssize_t count = recv(end, sealed + filled, sizeof sealed - filled, 0);
            need(count > 0, "recv");
            filled += (size_t)count;
        }
        if (i % length == 0) need((message = malloc((size_t)length * PIECE)) != NULL, "message");
        transform(context, 0, message + i % length * PIECE, sealed, i);
        memmove(sealed, sealed + SEALED, filled -= SEALED);
        if (is_handed) put(&incoming, message);
        else if (i % length == length - 1) sum += message[0], free(message);
    }
    if (is_handed) pthread_join(thread, NULL);
}

static void connect_ends(int ends[2]) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), room = 1 << 20;
    int no_delay = 1;
    // Room for several messages at both ends, so that neither waits for each step of the other.
    setsockopt(listener, SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
    need(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0, "listen");
    need(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "address");
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    setsockopt(ends[0], IPPROTO_TCP, TCP_NODELAY, &no_delay, sizeof no_delay);
    need(connect(ends[0], (struct sockaddr *)&address, length) == 0, "connect");
    ends[1] = accept(listener, NULL, NULL);
    need(ends[1] >= 0, "accept");
    close(listener);
}

static void measure(const char *what, int is_handed, long length, cpu_set_t all) {
    int ends[2], status;
    connect_ends(ends);
    fflush(stdout);
    double start = seconds(CLOCK_MONOTONIC), used = processor(RUSAGE_SELF) + processor(RUSAGE_CHILDREN);
    pid_t child = fork();
    pin(all, child ? 0 : 1);
    if (!child) {
        receive_all(ends[1], is_handed, length);
        _exit(0);
    }
    send_all(ends[0], is_handed, length);
    need(waitpid(child, &status, 0) == child && status == 0, "child");
    start = seconds(CLOCK_MONOTONIC) - start;
    used = processor(RUSAGE_SELF) + processor(RUSAGE_CHILDREN) - used;
    close(ends[0]), close(ends[1]);
    if (!what) return;
    double bytes = (double)pieces * PIECE;
    printf("{\"what\": \"%s\", \"value\": %.0f, \"unit\": \"MB/s\"}\n", what, bytes / start / 1e6);
    printf("{\"what\": \"%s, processor time\", \"value\": %.1f, \"unit\": \"ms/GiB\"}\n", what, used * 1e3 * (1 << 30) / bytes);
}

int main(int count, char **arguments) {
    cpu_set_t all;
    if (count > 1) pieces = atol(arguments[1]) * (1 << 20) / PIECE;
    if (pieces < LONG || pieces % LONG || sched_getaffinity(0, sizeof all, &all)) return 64;
    alarm(60);
    measure(NULL, 1, 1, all);  // The first run is slower: its pages are new.
    measure("in one thread", 0, 1, all);
    measure("from and to a thread", 1, 1, all);
    measure("of 16 MiB, in one thread", 0, LONG, all);
    return 0;
}
