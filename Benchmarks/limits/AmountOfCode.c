// SPDX-License-Identifier: Apache-2.0
//
// What a round trip costs by the amount of code that handles a message, whatever that code does: two processes on one core pass
// a record of 94 bytes back and forth over TCP, and each end calls functions of 31 instructions before it answers. Most run once
// in a turn, each in two lines of code and with a line of data of its own, three to a page; in between, 20 functions run again
// and again. That mixture was found by single steps through a round trip of 64 bytes (x86-64, OpenSSL 3.0): the C twin takes
// 16,400 instructions at each end, in 640 lines of code, with 270 lines of data; the library of this benchmark 43,600 in 1,810
// lines, with 620 lines of data and 200 atomic operations.
//
//   AmountOfCode ROUNDS
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { LARGEST = 780, RECORD = 94 };

#ifdef __aarch64__
#define CALL "bl"
#define ENTER "stp x29, x30, [sp, #-16]!\n"
#define LEAVE "ldp x29, x30, [sp], #16\nret\n"
#define KEEP "stp x19, x20, [sp, #-16]!\n"
#define NEXT_LINE "ldr x2, [x0], #8\nadd x9, x9, #1\n"
#define SAME_LINE "mov x2, x1\nadd x9, x9, #1\n"
#define ATOMIC "add x12, x2, #40\n8: ldaxr x13, [x12]\nadd x13, x13, #1\nstlxr w14, x13, [x12]\ncbnz w14, 8b\n"
#define BODY \
    "ldr x19, [x2]\nldr x20, [x2, #8]\nadd x10, x10, x19\ntbnz w19, #0, 1f\nadd x10, x10, #1\neor x10, x10, x20\n1: b 4f\n" \
    "5: ldp x19, x20, [sp], #16\nret\n.balign 64\n4: add x20, x20, #3\ncmp x20, x19\nb.eq 2f\nstr x10, [x2, #16]\n" \
    "mov x11, x20\nlsl x11, x11, #3\nsub x10, x10, x11\n2: cbz x20, 3f\nldr x11, [x2, #24]\nadd x10, x10, x11\n" \
    "and x11, x11, #255\ncmp x11, #200\nb.gt 3f\nadd x10, x10, #2\n3: b 5b\n"
#else
#define CALL "call"
#define ENTER ""
#define LEAVE "ret\n"
#define KEEP "push %rbx\npush %rbp\n"
#define NEXT_LINE "mov (%rdi), %rdx\nadd $8, %rdi\n"
#define SAME_LINE "mov %rsi, %rdx\ninc %r9\n"
#define ATOMIC "lock incq 40(%rdx)\n"
#define BODY \
    "mov (%rdx), %rbx\nmov 8(%rdx), %rbp\nadd %rbx, %rax\ntest $1, %bl\njne 1f\nlea 1(%rax), %rax\nxor %rbp, %rax\n1: jmp 4f\n" \
    "5: pop %rbp\npop %rbx\nret\n.balign 64\n4: add $3, %rbp\ncmp %rbp, %rbx\nje 2f\nmov %rax, 16(%rdx)\n" \
    "mov %rbp, %rcx\nshl $3, %rcx\nsub %rcx, %rax\n2: test %rbp, %rbp\nje 3f\nmov 24(%rdx), %rcx\nadd %rcx, %rax\n" \
    "and $255, %ecx\ncmp $200, %ecx\njg 3f\nadd $2, %rax\n3: jmp 5b\n"
#endif
#define FUNCTION(line, atomic) KEEP line atomic BODY ".balign 128\n"
// Four of five functions that run once are followed by one of those that run often.
#define STEPS(count, once, often) \
    ENTER ".set n, 0\n.rept " #count "\n" CALL once "\n.if n % 5\n" CALL often "\n.endif\n.set n, n + 1\n.endr\n" LEAVE
#define LOOP(first, second) ENTER ".set n, 0\n.rept 20\n" CALL first "\n" CALL second "\n.set n, n + 1\n.endr\n" LEAVE
// Three to a page, and pages 4,224 bytes apart, so that they also differ in their sets of the cache.
#define SCATTERED " scattered + (n / 3) * 4224 + (n % 3) * 128"
#define DENSE " dense + n * 128"
#define OFTEN " often + (n % 20) * 128"
#define OFTEN_NEXT " often_next + (n % 20) * 128"
#define SOMETIMES_ATOMIC " often + (n % 20) * 128 + ((n % 25) / 17) * 2560"
__asm__(".text\n.balign 4096\n"
        "scattered:\n.rept 260\n.rept 3\n" FUNCTION(NEXT_LINE, "") ".endr\n.skip 3840\n.endr\n"
        "dense:\n.rept 780\n" FUNCTION(NEXT_LINE, "") ".endr\n"
        "often:\n.rept 20\n" FUNCTION(SAME_LINE, "") ".endr\n"
        "often_atomic:\n.rept 20\n" FUNCTION(SAME_LINE, ATOMIC) ".endr\n"
        "often_next:\n.rept 20\n" FUNCTION(NEXT_LINE, "") ".endr\n"
        "loop:\n" LOOP(OFTEN, OFTEN)
        "loop_next:\n" LOOP(OFTEN_NEXT, OFTEN)
        "twin:\n" STEPS(294, SCATTERED, OFTEN)
        "library_dense:\n" STEPS(780, DENSE, OFTEN)
        "library:\n" STEPS(780, SCATTERED, OFTEN)
        "library_atomic:\n" STEPS(780, SCATTERED, SOMETIMES_ATOMIC));
typedef void code(uint64_t **lines, uint64_t *line);
code loop, loop_next, twin, library_dense, library, library_atomic;

struct turn {
    const char *what;
    code *code;
    int times, lines;
};

static long rounds;
static uint64_t *table[LARGEST];

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/// Lines of data in an order that no processor guesses, five or six to a page.
static void scatter(int lines) {
    static unsigned char *memory;
    static const int pages = 113;
    if (!memory && !(memory = aligned_alloc(4096, (size_t)pages * 4096))) exit(1);
    memset(memory, 0, (size_t)pages * 4096);
    for (int n = 0; n < LARGEST; n++) {
        int line = n % lines;
        table[n] = (uint64_t *)(memory + line * 37 % pages * 4096 + (line * 29 / pages + line * 7) % 64 * 64);
    }
}

/// Two ends of a connection.
static void connect_pair(int ends[2]) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), on = 1;
    if (bind(listener, (struct sockaddr *)&address, size) || listen(listener, 1)) exit(1);
    getsockname(listener, (struct sockaddr *)&address, &size);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(ends[0], (struct sockaddr *)&address, size)) exit(1);
    ends[1] = accept(listener, NULL, NULL);
    for (int i = 0; i < 2; i++) setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    close(listener);
}

static void await_record(int epoll, int fd) {
    static unsigned char input[131072];
    struct epoll_event event;
    if (epoll_wait(epoll, &event, 1, -1) != 1 || recv(fd, input, sizeof input, 0) != RECORD) exit(1);
}

static void answer(int fd, const struct turn *turn) {
    static unsigned char output[RECORD];
    for (int i = 0; i < turn->times; i++) turn->code(table + 20 * i, table[0]);
    if (send(fd, output, sizeof output, 0) != RECORD) exit(1);
}

static void pass(const struct turn *turn, double *times) {
    int ends[2], status;
    scatter(turn->lines);
    connect_pair(ends);
    fflush(stdout);
    pid_t child = fork();
    int end = ends[child ? 0 : 1], epoll = epoll_create1(0);
    struct epoll_event interest = { .events = EPOLLIN };
    epoll_ctl(epoll, EPOLL_CTL_ADD, end, &interest);
    for (long i = 0; i < rounds; i++) {
        double start = now();
        if (!child) await_record(epoll, end);
        answer(end, turn);
        if (child) await_record(epoll, end);
        times[i] = now() - start;
    }
    if (!child) _exit(0);
    if (waitpid(child, &status, 0) != child || status) exit(1);
    close(ends[0]), close(ends[1]), close(epoll);
    qsort(times, (size_t)rounds, sizeof *times, ascending);
    printf("{\"what\": \"round trip, %s\", \"value\": %.2f, \"unit\": \"us\"}\n", turn->what, times[rounds / 2]);
}

int main(int argc, char **argv) {
    static const struct turn turns[] = {
        { "no code", loop, 0, 1 },
        { "as much code as the C twin", twin, 1, 270 },
        { "instructions of the library, all in the fastest cache", loop, 35, 1 },
        { "and its lines of data", loop_next, 35, 620 },
        { "and its lines of code, without gaps", library_dense, 1, 620 },
        { "and its lines of code, in as many pages", library, 1, 620 },
        { "and its atomic operations", library_atomic, 1, 620 },
    };
    rounds = argc > 1 ? strtol(argv[1], NULL, 10) : 20000;
    double *times = calloc((size_t)(rounds > 0 ? rounds : 1), sizeof *times);
    cpu_set_t set;
    if (rounds < 1 || !times || sched_getaffinity(0, sizeof set, &set)) return 64;
    // Both processes on one core, so that each finds in its caches what the other has left there.
    int core = 0;
    while (!CPU_ISSET(core, &set)) core++;
    CPU_ZERO(&set);
    CPU_SET(core, &set);
    sched_setaffinity(0, sizeof set, &set);
    alarm(60);
    for (size_t i = 0; i < sizeof turns / sizeof *turns; i++) pass(&turns[i], times);
    free(times);
    return 0;
}
