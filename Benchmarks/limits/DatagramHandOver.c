// SPDX-License-Identifier: Apache-2.0
//
// The price of threads for datagrams that are sealed, sent, received and opened, in C. "In one thread" one process seals each and
// sends them in batches, at most 256 ahead of the reports of the other, which receives what has arrived, opens it, and reports
// every 64: what the program of the benchmark does. "From and to a thread" each message is made in memory of its own by a second
// thread of the sender, and what has arrived is counted and reported by a second thread of the receiver, through queues with one
// lock, and one wake-up if nothing waited: what any library does whose application is not the thread of the socket. Each process
// has one core.
//
//   DatagramHandOver [COUNT]
#define _GNU_SOURCE
#include "processes.h"
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/udp.h>
#include <openssl/evp.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { SIZE = 1150, TAG = 16, HEADER = 22, PACKET = HEADER + SIZE + TAG, REPORT = HEADER + 4 + TAG, BATCH = 52, WINDOW = 256,
       EACH = 64, STALL = 20, LIMIT = 1024 };

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    unsigned char *messages[LIMIT];
    int count;
} Queue;

static uint32_t count = 300000;
static Queue outgoing, incoming;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t moved = PTHREAD_COND_INITIALIZER;
static uint32_t reported;
static int bell;
static volatile unsigned long sum;

/// Returns whether nothing waited before.
static int put(Queue *queue, unsigned char *message) {
    pthread_mutex_lock(&queue->lock);
    need(queue->count < LIMIT, "queue");
    int is_first = queue->count == 0;
    queue->messages[queue->count++] = message;
    pthread_mutex_unlock(&queue->lock);
    return is_first;
}

static int take_all(Queue *queue, unsigned char **taken, int waits) {
    pthread_mutex_lock(&queue->lock);
    while (waits && queue->count == 0) pthread_cond_wait(&queue->filled, &queue->lock);
    int number = queue->count;
    memcpy(taken, queue->messages, (size_t)number * sizeof *taken);
    queue->count = 0;
    pthread_mutex_unlock(&queue->lock);
    return number;
}

static void ring(void) { need(eventfd_write(bell, 1) == 0, "eventfd"); }

static EVP_CIPHER_CTX *cipher(int seals) {
    EVP_CIPHER_CTX *context = EVP_CIPHER_CTX_new();
    const unsigned char key[32] = "0123456789abcdef0123456789abcde";
    need(EVP_CipherInit_ex(context, EVP_chacha20_poly1305(), NULL, key, NULL, seals) == 1, "cipher");
    return context;
}

/// Returns whether it was authentic. The header is authenticated, too.
static int transform(
    EVP_CIPHER_CTX *context, int seals, unsigned char *to, unsigned char *from, int size, unsigned char *packet) {
    int done;
    unsigned char nonce[12] = { 0 }, *tag = packet + HEADER + size;
    memcpy(nonce + 4, packet + 14, 8);
    need(EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, -1) == 1, "nonce");
    if (!seals) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG, tag);
    EVP_CipherUpdate(context, NULL, &done, packet + 9, HEADER - 9);
    EVP_CipherUpdate(context, to, &done, from, size);
    if (EVP_CipherFinal_ex(context, NULL, &done) != 1) return 0;
    if (seals) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, tag);
    return 1;
}

static void seal(EVP_CIPHER_CTX *context, unsigned char *packet, unsigned char *message, int size) {
    static uint64_t number;
    memset(packet, 1, HEADER);
    number++;
    memcpy(packet + 14, &number, sizeof number);
    transform(context, 1, packet + HEADER, message, size, packet);
}

// MARK: the sender

static struct {
    int socket;
    EVP_CIPHER_CTX *seals, *opens;
    unsigned char batch[BATCH * PACKET];
    int batched;
} end;

static void flush(void) {
    if (end.batched == 0) return;
    struct iovec piece = { .iov_base = end.batch, .iov_len = (size_t)end.batched * PACKET };
    union { char bytes[CMSG_SPACE(sizeof(uint16_t))]; struct cmsghdr align; } control = { 0 };
    struct msghdr message = {
        .msg_iov = &piece, .msg_iovlen = 1, .msg_control = control.bytes, .msg_controllen = sizeof control.bytes };
    struct cmsghdr *header = CMSG_FIRSTHDR(&message);
    header->cmsg_level = IPPROTO_UDP;
    header->cmsg_type = UDP_SEGMENT;
    header->cmsg_len = CMSG_LEN(sizeof(uint16_t));
    uint16_t segment = PACKET;
    memcpy(CMSG_DATA(header), &segment, sizeof segment);
    need(sendmsg(end.socket, &message, 0) > 0, "sendmsg");
    end.batched = 0;
}

static void emit(unsigned char *message) {
    seal(end.seals, end.batch + end.batched++ * PACKET, message, SIZE);
    if (end.batched == BATCH) flush();
}

/// Takes the reports that have arrived.
static void take_reports(int is_handed) {
    unsigned char packet[PACKET], clear[4];
    uint32_t highest = 0;
    while (recv(end.socket, packet, sizeof packet, MSG_DONTWAIT) == REPORT)
        if (transform(end.opens, 0, clear, packet + HEADER, 4, packet)) memcpy(&highest, clear, 4);
    if (is_handed) pthread_mutex_lock(&lock);
    if (highest > reported) reported = highest;
    if (is_handed) pthread_cond_signal(&moved), pthread_mutex_unlock(&lock);
}

static void *produce(void *unused) {
    unsigned char pattern[SIZE] = { 1 };
    for (uint32_t sent = 0; sent < count;) {
        pthread_mutex_lock(&lock);
        while (sent - reported >= WINDOW) {
            struct timespec until;
            clock_gettime(CLOCK_REALTIME, &until);
            until.tv_nsec += STALL * 1000000;
            until.tv_sec += until.tv_nsec / 1000000000;
            until.tv_nsec %= 1000000000;
            if (pthread_cond_timedwait(&moved, &lock, &until) == ETIMEDOUT) reported = sent;  // lost: continue without them
        }
        uint32_t free = WINDOW - (sent - reported);
        pthread_mutex_unlock(&lock);
        for (; free > 0 && sent < count; free--) {
            unsigned char *message = malloc(SIZE);
            need(message != NULL, "message");
            memcpy(message, pattern, SIZE);
            sent++;
            memcpy(message, &sent, sizeof sent);
            if (put(&outgoing, message)) ring();
        }
    }
    return unused;
}

static void send_all(int is_handed) {
    struct pollfd ready[2] = { { .fd = end.socket, .events = POLLIN }, { .fd = bell, .events = POLLIN } };
    unsigned char message[SIZE] = { 1 }, *taken[LIMIT];
    pthread_t thread;
    if (is_handed) need(pthread_create(&thread, NULL, produce, NULL) == 0, "thread");
    for (uint32_t sent = 0; sent < count || reported + EACH < count;) {
        if (is_handed) {
            if (poll(ready, 2, STALL) <= 0 && sent == count) break;
            eventfd_t rung;
            if (ready[1].revents) eventfd_read(bell, &rung);
            for (int k = 0, number = take_all(&outgoing, taken, 0); k < number; k++, sent++) emit(taken[k]), free(taken[k]);
        } else {
            for (; sent < count && sent - reported < WINDOW; emit(message)) sent++, memcpy(message, &sent, sizeof sent);
        }
        flush();
        take_reports(is_handed);
        if (is_handed || (sent - reported < WINDOW && sent < count)) continue;
        if (poll(ready, 1, STALL) > 0) take_reports(0);
        else reported = sent;
    }
    if (is_handed) pthread_join(thread, NULL);
}

// MARK: the receiver

static uint32_t received, highest;

/// Returns whether a report is due.
static int take(unsigned char *message) {
    uint32_t number;
    memcpy(&number, message, sizeof number);
    sum += message[4];
    if (number > highest) highest = number;
    return ++received % EACH == 0;
}

static void report(unsigned char *number) {
    unsigned char packet[REPORT];
    seal(end.seals, packet, number, 4);
    send(end.socket, packet, sizeof packet, 0);
}

static void *consume(void *unused) {
    unsigned char *taken[LIMIT];
    for (;;)
        for (int k = 0, number = take_all(&incoming, taken, 1); k < number; k++) {
            uint32_t length;
            memcpy(&length, taken[k], sizeof length);
            for (uint32_t i = 0; i < length; i++) {
                if (!take(taken[k] + 4 + i * SIZE)) continue;
                unsigned char *answer = malloc(4);
                need(answer != NULL, "report");
                memcpy(answer, &highest, 4);
                if (put(&outgoing, answer)) ring();
            }
            free(taken[k]);
        }
    return unused;
}

static void receive_all(int is_handed) {
    static unsigned char packets[65536];
    struct pollfd ready[2] = { { .fd = end.socket, .events = POLLIN }, { .fd = bell, .events = POLLIN } };
    unsigned char *taken[LIMIT];
    pthread_t thread;
    if (is_handed) need(pthread_create(&thread, NULL, consume, NULL) == 0, "thread");
    while (1) {
        need(poll(ready, is_handed ? 2 : 1, 5000) > 0, "the sender is silent");
        eventfd_t rung;
        if (is_handed && ready[1].revents) eventfd_read(bell, &rung);
        int number = is_handed ? take_all(&outgoing, taken, 0) : 0;
        for (int k = 0; k < number; k++) report(taken[k]), free(taken[k]);
        ssize_t size;
        while ((size = recv(end.socket, packets, sizeof packets, MSG_DONTWAIT)) > 0) {
            if (size < PACKET) return;  // The end.
            uint32_t length = 0;
            unsigned char *chunk = malloc(4 + (size_t)(size / PACKET) * SIZE);
            need(chunk != NULL, "chunk");
            for (ssize_t at = 0; at + PACKET <= size; at += PACKET) {
                unsigned char *clear = chunk + 4 + length * SIZE, *packet = packets + at;
                if (!transform(end.opens, 0, clear, packet + HEADER, SIZE, packet)) continue;
                length++;
                if (!is_handed && take(clear)) report((unsigned char *)&highest);
            }
            memcpy(chunk, &length, sizeof length);
            if (!is_handed) free(chunk);
            else if (put(&incoming, chunk)) pthread_cond_signal(&incoming.filled);
        }
    }
}

// MARK: both

static void open_ends(int ends[2]) {
    struct sockaddr_in addresses[2];
    for (int i = 0; i < 2; i++) {
        socklen_t length = sizeof addresses[i];
        int on = 1, room = 4 << 20;
        addresses[i] = (struct sockaddr_in){ .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
        ends[i] = socket(AF_INET, SOCK_DGRAM, 0);
        need(bind(ends[i], (struct sockaddr *)&addresses[i], length) == 0, "bind");
        need(getsockname(ends[i], (struct sockaddr *)&addresses[i], &length) == 0, "address");
        setsockopt(ends[i], SOL_SOCKET, SO_RCVBUF, &room, sizeof room);
        // Only for the receiver: the sender's reports stay apart.
        if (i == 1) need(setsockopt(ends[i], IPPROTO_UDP, UDP_GRO, &on, sizeof on) == 0, "UDP_GRO");
    }
    for (int i = 0; i < 2; i++) need(connect(ends[i], (struct sockaddr *)&addresses[1 - i], sizeof addresses[i]) == 0, "connect");
}

static void measure(const char *what, int is_handed, cpu_set_t all) {
    int ends[2], status;
    open_ends(ends);
    outgoing = incoming = (Queue){ .lock = PTHREAD_MUTEX_INITIALIZER, .filled = PTHREAD_COND_INITIALIZER };
    reported = 0;
    fflush(stdout);
    double start = seconds(CLOCK_MONOTONIC), used = processor(RUSAGE_SELF), others = processor(RUSAGE_CHILDREN);
    pid_t child = fork();
    pin(all, child ? 0 : 1);
    bell = eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
    need(bell >= 0, "eventfd");
    end.socket = ends[child ? 0 : 1];
    end.seals = cipher(1);
    end.opens = cipher(0);
    if (!child) {
        receive_all(is_handed);
        _exit(received < count / 2);
    }
    send_all(is_handed);
    start = seconds(CLOCK_MONOTONIC) - start;
    used = processor(RUSAGE_SELF) - used;
    // Again if it is lost.
    while (waitpid(child, &status, WNOHANG) == 0) send(end.socket, "", 1, 0), usleep(5000);
    need(status == 0, "child");
    others = processor(RUSAGE_CHILDREN) - others;
    close(ends[0]), close(ends[1]), close(bell);
    EVP_CIPHER_CTX_free(end.seals), EVP_CIPHER_CTX_free(end.opens);
    if (!what) return;
    printf("{\"what\": \"%s\", \"value\": %.1f, \"unit\": \"k/s\"}\n", what, count / start / 1e3);
    printf("{\"what\": \"%s, processor time of the sender\", \"value\": %.3f, \"unit\": \"us\"}\n", what, used * 1e6 / count);
    printf("{\"what\": \"%s, processor time of the receiver\", \"value\": %.3f, \"unit\": \"us\"}\n", what, others * 1e6 / count);
}

int main(int arguments, char **argument) {
    cpu_set_t all;
    if (arguments > 1) count = (uint32_t)atol(argument[1]);
    if (count < WINDOW || sched_getaffinity(0, sizeof all, &all)) return 64;
    alarm(60);
    measure(NULL, 1, all);  // The first run is slower: its pages are new.
    measure("in one thread", 0, all);
    measure("from and to a thread", 1, all);
    return 0;
}
