// SPDX-License-Identifier: Apache-2.0
//
// What the programs of this folder have in common: each does with one library what the twin does with libssl.
//
//   NAME server|client bulk|pipelined|pingpong SIZE COUNT
//
// Both ends print `INTRO <hex>` and read the other's, the client first; the process that starts them relays the lines.
// The client sends COUNT messages of SIZE bytes, the server counts them and answers; or both send one at a time. A
// program defines the functions that are declared here, and includes this file.
#pragma once
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "measure.h"

enum { INTRODUCTION = 256, TIME_LIMIT = 120 };

/// The protection of the messages, as the table shows it.
static const char *protection(void);
/// Listens if this is the server, and writes its introduction; returns the length.
static size_t prepare(bool is_server, unsigned char mine[INTRODUCTION]);
/// Connects with the other side; returns when messages can be sent.
static void begin(bool is_server, const unsigned char *theirs, size_t count);
/// Sends a message; waits while too many are on the way.
static void send_message(const unsigned char *bytes, size_t count);
/// Waits for a message and returns its length. Its first byte is read, its memory is released.
static size_t receive_message(void);
/// Sends what is waiting, and closes.
static void end(void);

static void die(const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    exit(1);
}

static void print_introduction(const unsigned char *mine, size_t count) {
    printf("INTRO ");
    for (size_t i = 0; i < count; i++) printf("%02x", mine[i]);
    printf("\n");
    fflush(stdout);
}

static size_t read_introduction(unsigned char theirs[INTRODUCTION]) {
    char line[2 * INTRODUCTION + 16];
    size_t count = 0;
    unsigned byte;
    if (!fgets(line, sizeof line, stdin) || strncmp(line, "INTRO ", 6)) die("introduction", "none");
    for (const char *p = line + 6; count < INTRODUCTION && sscanf(p, "%2x", &byte) == 1; p += 2)
        theirs[count++] = (unsigned char)byte;
    return count;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void expect(size_t count, size_t wanted) {
    if (count != wanted) die("message", "another length");
}

int main(int argc, char **argv) {
    if (argc != 5) die("usage", "server|client bulk|pipelined|pingpong SIZE COUNT");
    bool is_server = !strcmp(argv[1], "server"), is_pingpong = !strcmp(argv[2], "pingpong");
    size_t size = strtoul(argv[3], NULL, 10), introduced;
    long count = strtol(argv[4], NULL, 10), sent = 0, received = 0;
    unsigned char introduction[INTRODUCTION], *payload = calloc(1, size);
    double *latencies = calloc((size_t)count, sizeof *latencies), before, began, seconds = 0;
    if (size < 1 || count < 1 || !payload || !latencies) die("size or count", "none");
    alarm(TIME_LIMIT);
    memset(payload, 0x5A, size);

    size_t mine = prepare(is_server, introduction);
    if (!is_server) print_introduction(introduction, mine);
    unsigned char theirs[INTRODUCTION];
    introduced = read_introduction(theirs);
    if (is_server) print_introduction(introduction, mine);
    begin(is_server, theirs, introduced);

    before = cpu_seconds(), began = now();
    for (; !is_server && sent < count; sent++) {
        double start = now();
        send_message(payload, size);
        if (!is_pingpong) continue;
        expect(receive_message(), size);
        latencies[received++] = now() - start;
    }
    if (!is_server && !is_pingpong) expect(receive_message(), 8);
    seconds = now() - began;
    for (; is_server && received < count; received++) {
        expect(receive_message(), size);
        if (is_pingpong) send_message(payload, size);
    }
    if (is_server && !is_pingpong) send_message((const unsigned char *)"complete", 8);
    double cpu = cpu_seconds() - before;
    end();

    printf("{\"side\": \"%s\", \"sent\": %ld, \"received\": %ld, ", argv[1], sent, received);
    if (!is_server && is_pingpong) {
        qsort(latencies, (size_t)count, sizeof *latencies, ascending);
        printf("\"p50_us\": %.1f, \"p99_us\": %.1f, ", latencies[count / 2] * 1e6, latencies[count * 99 / 100] * 1e6);
    } else if (!is_server) {
        printf("\"seconds\": %.6f, \"messages_per_s\": %.0f, \"mb_per_s\": %.1f, ", seconds, (double)sent / seconds,
            (double)sent * (double)size / seconds / 1e6);
    }
    printf("\"cpu_s\": %.6f, \"peak_rss_kib\": %ld, \"suite\": \"%s\"}\n", cpu, peak_kib(), protection());
    return 0;
}
