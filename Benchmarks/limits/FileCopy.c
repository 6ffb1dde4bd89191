// SPDX-License-Identifier: Apache-2.0
//
// The limit of a file: the processor time of each step that a file in memory must go through, alone and all in a row. The
// sender reads, seals and sends; the receiver receives, opens and writes. Messages need only the four in the middle.
//
//   FileCopy [MEBIBYTES]
//
// "write" makes new pages in the page cache, from one piece that is still in the processor's cache; "write, 8 MiB behind" takes
// each piece that much later, as a receiver does whose disk is slow; "overwrite" finds the pages there.
#include <arpa/inet.h>
#include <fcntl.h>
#include <openssl/evp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { PIECE = 65536, RECORD = 16384, BEHIND = 8 << 20, TAG = 16 };

static long pieces = (256 << 20) / PIECE;
static unsigned char plain[BEHIND], sealed[PIECE], opened[PIECE], tags[PIECE / RECORD][TAG];
static EVP_CIPHER_CTX *sealing, *opening;
static int ends[2], source, copy;

static void need(int condition, const char *what) {
    if (condition) return;
    perror(what);
    exit(1);
}

static double processor(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int new_file(void) {
    char name[] = "/dev/shm/multipeer-limit-XXXXXX";
    int file = mkstemp(name);
    need(file >= 0 && unlink(name) == 0, "file");
    return file;
}

static void write_piece(int file, const unsigned char *from) { need(write(file, from, PIECE) == PIECE, "write"); }

static void read_source(long i) { need(pread(source, plain, PIECE, i * PIECE) == PIECE, "read"); }

static void transform(EVP_CIPHER_CTX *context, unsigned char *to, const unsigned char *from, long i) {
    int count;
    for (long record = 0; record < PIECE / RECORD; record++) {
        unsigned char nonce[12] = { 0 };
        long number = i * (PIECE / RECORD) + record;
        memcpy(nonce, &number, sizeof number);
        need(EVP_CipherInit_ex(context, NULL, NULL, NULL, nonce, -1) == 1, "nonce");
        if (context == opening) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_SET_TAG, TAG, tags[record]);
        need(EVP_CipherUpdate(context, to + record * RECORD, &count, from + record * RECORD, RECORD) == 1, "update");
        need(EVP_CipherFinal_ex(context, to + record * RECORD + count, &count) == 1, "tag");
        if (context == sealing) EVP_CIPHER_CTX_ctrl(context, EVP_CTRL_AEAD_GET_TAG, TAG, tags[record]);
    }
}

static void seal(long i) { transform(sealing, sealed, plain, i); }
static void open_sealed(long i) { transform(opening, opened, sealed, i); }

static void pass(long i) {
    (void)i;
    need(send(ends[0], sealed, PIECE, 0) == PIECE, "send");
    need(recv(ends[1], sealed, PIECE, MSG_WAITALL) == PIECE, "recv");
}

static void write_new(long i) { (void)i; write_piece(copy, opened); }
static void write_behind(long i) { write_piece(copy, plain + i * PIECE % BEHIND); }
static void overwrite(long i) { need(pwrite(source, opened, PIECE, i * PIECE) == PIECE, "write"); }
static void seal_and_open(long i) { seal(i); open_sealed(i); }

static void all(long i) {
    read_source(i);
    seal(i);
    pass(i);
    open_sealed(i);
    write_new(i);
}

static void measure(const char *what, void (*step)(long)) {
    copy = new_file();
    double start = processor();
    for (long i = 0; i < pieces; i++) step(i);
    double seconds = processor() - start;
    close(copy);
    double gibibytes = (double)pieces * PIECE / (1 << 30);
    printf("{\"what\": \"%s\", \"value\": %.1f, \"unit\": \"ms/GiB\"}\n", what, seconds * 1000 / gibibytes);
}

static void connect_ends(void) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), room = 4 * PIECE;
    need(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0, "listen");
    need(getsockname(listener, (struct sockaddr *)&address, &length) == 0, "address");
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
    need(connect(ends[0], (struct sockaddr *)&address, length) == 0, "connect");
    ends[1] = accept(listener, NULL, NULL);
    need(ends[1] >= 0, "accept");
}

int main(int count, char **arguments) {
    if (count > 1) pieces = atol(arguments[1]) * (1 << 20) / PIECE;
    unsigned char key[16] = "0123456789abcdef";
    sealing = EVP_CIPHER_CTX_new();
    opening = EVP_CIPHER_CTX_new();
    need(EVP_CipherInit_ex(sealing, EVP_aes_128_gcm(), NULL, key, NULL, 1) == 1, "cipher");
    need(EVP_CipherInit_ex(opening, EVP_aes_128_gcm(), NULL, key, NULL, 0) == 1, "cipher");
    connect_ends();
    memset(plain, 1, sizeof plain);
    memset(opened, 1, sizeof opened);
    source = new_file();
    for (long i = 0; i < pieces; i++) write_piece(source, plain);
    measure("read", read_source);
    measure("seal and open", seal_and_open);
    measure("send and receive", pass);
    measure("write", write_new);
    measure("write, 8 MiB behind", write_behind);
    measure("overwrite", overwrite);
    measure("all: read, seal, send, receive, open, write", all);
    return 0;
}
