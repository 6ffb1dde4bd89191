// SPDX-License-Identifier: Apache-2.0
//
// What small files take of the processor in C, with the same system calls and hand-overs between threads. A file of 4 KiB is read, hashed,
// sealed and sent by one process, and received, opened, hashed, created, written and renamed by another one, which answers; the
// times are of both processes, for one file. "In one thread" each process does all of it in one thread, as the C pair of the
// benchmark does. "With the threads of a library" each has one for the socket, one for files and one of the application, and
// a file goes through them as here: application, file, socket, and application when it is on its way and when it has arrived;
// at the other end socket, application, file, and from there to socket and application. "And their code" runs in each of these
// steps through code that does nothing: 1,400 lines in a turn of the loop, 735 for each file in the thread for files, and 1,380
// in a step of the application. So much was counted in the library outside OpenSSL (callgrind, x86-64): for a file in turn 12,660
// lines at both ends, each once in a turn or step. Each process has one core, if there are two.
//
//   SmallFiles: no arguments. The files are in /dev/shm.
#define _GNU_SOURCE
#include "lines_of_code.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <openssl/evp.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { FILES = 2000, SIZE = 4096, DIGEST = 32, TAG = 16, AT_ONCE = 16, PLAIN = SIZE + DIGEST, SEALED = PLAIN + TAG };
enum { ANSWER = 16, SEALED_ANSWER = ANSWER + TAG, STOP = -1, HAS_ARRIVED = 1 << 20 };
typedef unsigned char Bytes[SEALED];

// Code of its own for each thread.
__asm__(".text\n" CODE("loop_code", 200) CODE("files_code", 105) CODE("application_code", 197));
void loop_code(void), files_code(void), application_code(void);

static char folder[64];
static Bytes contents[AT_ONCE];  // those of file number modulo AT_ONCE, in either process
static int end, window, has_code;
static EVP_MD *sha256;

static void need(int condition, const char *what) {
    if (condition) return;
    perror(what);
    exit(1);
}

// MARK: files

static void path(char *into, const char *kind, int number) { snprintf(into, 96, "%s/%s-%d", folder, kind, number); }

static void hash(const unsigned char *bytes, unsigned char *digest) {
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    need(EVP_DigestInit_ex2(context, sha256, NULL) && EVP_DigestUpdate(context, bytes, SIZE), "hash");
    need(EVP_DigestFinal_ex(context, digest, NULL), "hash");
    EVP_MD_CTX_free(context);
}

static void read_file(int number, unsigned char *into) {
    char name[96];
    struct stat status;
    path(name, "source", number);
    need(stat(name, &status) == 0, "stat");
    int file = open(name, O_RDONLY | O_CLOEXEC);
    need(file >= 0 && fstat(file, &status) == 0 && read(file, into, SIZE) == SIZE && close(file) == 0, "read");
    hash(into, into + SIZE);
}

/// Creates a file under a name that no other process sweeps, and gives it its own name when it is whole.
static void write_file(int number, const unsigned char *bytes) {
    char draft[96], name[96];
    unsigned char digest[DIGEST];
    uint64_t random[2];
    struct stat status;
    struct statvfs space;
    int directory = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    need(directory >= 0 && fstatvfs(directory, &space) == 0, "folder");
    need(getrandom(random, sizeof random, 0) == sizeof random, "random");
    path(draft, "draft", number);
    path(name, "copy", number);
    int file = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    need(file >= 0 && flock(file, LOCK_EX | LOCK_NB) == 0, "create");
    need(fstat(file, &status) == 0 && lstat(draft, &status) == 0, "check");
    need(write(file, bytes, SIZE) == SIZE, "write");
    hash(bytes, digest);
    need(memcmp(digest, bytes + SIZE, DIGEST) == 0, "digest");
    int copy = fcntl(file, F_DUPFD_CLOEXEC, 0);
    need(close(file) == 0 && renameat2(AT_FDCWD, draft, AT_FDCWD, name, RENAME_NOREPLACE) == 0, "rename");
    need(close(copy) == 0 && close(directory) == 0, "close");
}

// MARK: records

struct sealer { EVP_CIPHER_CTX *context; uint64_t number; };

static struct sealer sealer(int seals) {
    struct sealer new = { EVP_CIPHER_CTX_new(), 0 };
    need(EVP_CipherInit_ex(new.context, EVP_aes_128_gcm(), NULL, (unsigned char *)"0123456789abcdef", NULL, seals), "cipher");
    return new;
}

static void transform(struct sealer *with, int seals, unsigned char *plain, unsigned char *sealed, int count) {
    unsigned char nonce[12] = { 0 };
    int done;
    memcpy(nonce, &with->number, 8);
    with->number++;
    need(EVP_CipherInit_ex(with->context, NULL, NULL, NULL, nonce, -1), "nonce");
    if (!seals) EVP_CIPHER_CTX_ctrl(with->context, EVP_CTRL_AEAD_SET_TAG, TAG, sealed + count);
    need(EVP_CipherUpdate(with->context, seals ? sealed : plain, &done, seals ? plain : sealed, count), "cipher");
    need(EVP_CipherFinal_ex(with->context, plain, &done), "tag");
    if (seals) EVP_CIPHER_CTX_ctrl(with->context, EVP_CTRL_AEAD_GET_TAG, TAG, sealed + count);
}

static void send_all(const unsigned char *bytes, size_t count) {
    while (count > 0) {
        ssize_t sent = send(end, bytes, count, MSG_NOSIGNAL);
        need(sent > 0, "send");
        bytes += sent;
        count -= (size_t)sent;
    }
}

/// Reads what there is, or waits for it, and returns how many whole records that are.
static int receive(unsigned char *room, size_t *have, int size) {
    ssize_t got = recv(end, room + *have, (size_t)(AT_ONCE * size) - *have, 0);
    need(got > 0, "recv");
    *have += (size_t)got;
    int whole = (int)(*have / (size_t)size);
    *have %= (size_t)size;
    return whole;
}

// MARK: threads

/// What one thread has to do. It sleeps in epoll_wait, or the application on a condition; it is woken once.
struct queue {
    pthread_mutex_t lock;
    pthread_cond_t filled;
    int epoll, event, is_asleep, count, items[4 * AT_ONCE];
};
static struct queue loop, files, application;

static void prepare(struct queue *queue, int has_epoll) {
    pthread_mutex_init(&queue->lock, NULL);
    pthread_cond_init(&queue->filled, NULL);
    queue->epoll = queue->event = -1;
    if (!has_epoll) return;
    queue->epoll = epoll_create1(0);
    queue->event = eventfd(0, EFD_NONBLOCK);
    struct epoll_event interest = { .events = EPOLLIN | EPOLLET };
    need(epoll_ctl(queue->epoll, EPOLL_CTL_ADD, queue->event, &interest) == 0, "epoll");
}

static void post(struct queue *queue, int item) {
    uint64_t one = 1;
    pthread_mutex_lock(&queue->lock);
    queue->items[queue->count++] = item;
    int wakes = queue->is_asleep;
    queue->is_asleep = 0;
    pthread_mutex_unlock(&queue->lock);
    if (!wakes) return;
    if (queue->event < 0) pthread_cond_signal(&queue->filled);
    else need(write(queue->event, &one, sizeof one) == sizeof one, "wake");
}

/// Waits until there is something, takes all of it, and says whether the socket can be read.
static int take(struct queue *queue, int *items, int *count) {
    struct epoll_event events[2];
    int has_bytes = 0;
    pthread_mutex_lock(&queue->lock);
    while (queue->event < 0 && queue->count == 0) {
        queue->is_asleep = 1;
        pthread_cond_wait(&queue->filled, &queue->lock);
    }
    if (queue->event >= 0) {
        int sleeps = queue->is_asleep = queue->count == 0;
        pthread_mutex_unlock(&queue->lock);
        int found = epoll_wait(queue->epoll, events, 2, sleeps ? -1 : 0);
        for (int i = 0; i < found; i++) has_bytes |= events[i].data.fd == end;
        pthread_mutex_lock(&queue->lock);
    }
    queue->is_asleep = 0;
    memcpy(items, queue->items, (size_t)queue->count * sizeof *items);
    *count = queue->count;
    queue->count = 0;
    pthread_mutex_unlock(&queue->lock);
    return has_bytes;
}

static void watch_socket(void) {
    struct epoll_event interest = { .events = EPOLLIN, .data.fd = end };
    need(epoll_ctl(loop.epoll, EPOLL_CTL_ADD, end, &interest) == 0, "epoll");
}

static void *serve_files(void *is_sender) {
    int items[4 * AT_ONCE], count;
    for (;;) {
        take(&files, items, &count);
        for (int i = 0; i < count; i++) {
            if (items[i] == STOP) return NULL;
            if (has_code) files_code();
            unsigned char *room = contents[items[i] % AT_ONCE];
            if (is_sender) read_file(items[i], room); else write_file(items[i], room);
            post(&loop, items[i]);
            if (!is_sender) post(&application, items[i]);
        }
    }
}

static void *serve_loop(void *is_sender) {
    struct sealer seal = sealer(1), unseal = sealer(0);
    static Bytes sealed[AT_ONCE], received[AT_ONCE];
    unsigned char answer[ANSWER] = { 0 };
    int items[4 * AT_ONCE], count, next = 0, answered = 0, size = is_sender ? SEALED_ANSWER : SEALED;
    size_t have = 0;
    while (answered < FILES) {
        if (take(&loop, items, &count)) {
            unsigned char *room = received[0];
            int whole = receive(room, &have, size);
            for (int i = 0; i < whole; i++, next++) {
                unsigned char *into = is_sender ? answer : contents[next % AT_ONCE];
                transform(&unseal, 0, into, room + i * size, is_sender ? ANSWER : PLAIN);
                post(&application, is_sender ? next | HAS_ARRIVED : next);
                if (is_sender) answered++;
            }
            memmove(room, room + whole * size, have);
        }
        size_t length = 0;
        if (has_code) loop_code();
        for (int i = 0; i < count; i++, length += is_sender ? SEALED : SEALED_ANSWER)
            transform(&seal, 1, is_sender ? contents[items[i] % AT_ONCE] : answer, sealed[0] + length, is_sender ? PLAIN : ANSWER);
        if (length) send_all(sealed[0], length);
        for (int i = 0; i < count && is_sender; i++) post(&application, items[i]);
        if (!is_sender) answered += count;
    }
    return NULL;
}

static void be_application(int is_sender) {
    int items[4 * AT_ONCE], count, started = 0, over = 0;
    while (is_sender && started < window) post(&files, started++);
    while (over < FILES) {
        take(&application, items, &count);
        for (int i = 0; i < count; i++) {
            if (has_code) application_code();
            if (is_sender) {
                if (!(items[i] & HAS_ARRIVED)) continue;
                over++;
                if (started < FILES) post(&files, started++);
            } else if (items[i] == started) {
                post(&files, started++);
            } else {
                over++;
            }
        }
    }
    post(&files, STOP);
}

static void with_threads(int is_sender) {
    pthread_t threads[2];
    prepare(&loop, 1);
    prepare(&files, 1);
    prepare(&application, 0);
    watch_socket();
    need(pthread_create(&threads[0], NULL, serve_loop, is_sender ? &end : NULL) == 0, "thread");
    need(pthread_create(&threads[1], NULL, serve_files, is_sender ? &end : NULL) == 0, "thread");
    be_application(is_sender);
    for (int i = 0; i < 2; i++) pthread_join(threads[i], NULL);
}

static void with_threads_and_code(int is_sender) {
    has_code = 1;
    with_threads(is_sender);
}

static void in_one_thread(int is_sender) {
    struct sealer seal = sealer(1), unseal = sealer(0);
    static Bytes room[AT_ONCE], sealed[AT_ONCE];
    unsigned char answer[ANSWER] = { 0 };
    int started = 0, over = 0, size = is_sender ? SEALED_ANSWER : SEALED;
    size_t have = 0;
    while (over < FILES) {
        size_t length = 0;
        for (; is_sender && started < FILES && started - over < window; started++, length += SEALED) {
            read_file(started, contents[0]);
            transform(&seal, 1, contents[0], sealed[0] + length, PLAIN);
        }
        if (length) send_all(sealed[0], length);
        int whole = receive(room[0], &have, size);
        length = 0;
        for (int i = 0; i < whole; i++, over++) {
            transform(&unseal, 0, is_sender ? answer : contents[0], room[0] + i * size, is_sender ? ANSWER : PLAIN);
            if (is_sender) continue;
            write_file(over, contents[0]);
            transform(&seal, 1, answer, sealed[0] + length, ANSWER);
            length += SEALED_ANSWER;
        }
        if (length) send_all(sealed[0], length);
        memmove(room[0], room[0] + whole * size, have);
    }
}

// MARK: both processes

static void remove_copies(void) {
    char name[96];
    for (int i = 0; i < FILES; i++) {
        path(name, "copy", i);
        unlink(name);
    }
}

static double children(void) {
    struct rusage usage;
    getrusage(RUSAGE_CHILDREN, &usage);
    return (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1e6 + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void connect_pair(int ends[2]) {
    struct sockaddr_in address = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM, 0), yes = 1;
    need(bind(listener, (struct sockaddr *)&address, length) == 0 && listen(listener, 1) == 0, "listen");
    getsockname(listener, (struct sockaddr *)&address, &length);
    ends[0] = socket(AF_INET, SOCK_STREAM, 0);
    need(connect(ends[0], (struct sockaddr *)&address, length) == 0, "connect");
    ends[1] = accept(listener, NULL, NULL);
    close(listener);
    for (int i = 0; i < 2; i++) setsockopt(ends[i], IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

static void pin(int number) {
    cpu_set_t allowed, one;
    sched_getaffinity(0, sizeof allowed, &allowed);
    if (CPU_COUNT(&allowed) < 2) return;
    CPU_ZERO(&one);
    for (int cpu = 0, seen = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &allowed) && seen++ == number) CPU_SET(cpu, &one);
    sched_setaffinity(0, sizeof one, &one);
}

static void measure(const char *what, int at_once, void (*work)(int)) {
    int ends[2], status;
    double before = children();
    window = at_once;
    connect_pair(ends);
    for (int i = 0; i < 2; i++) {
        if (fork() > 0) continue;
        end = ends[i];
        close(ends[1 - i]);
        pin(i);
        work(i == 0);
        _exit(0);
    }
    close(ends[0]);
    close(ends[1]);
    for (int i = 0; i < 2; i++) need(wait(&status) > 0 && status == 0, "process");
    printf("{\"what\": \"%s\", \"value\": %.1f, \"unit\": \"us\"}\n", what, (children() - before) / FILES);
    fflush(stdout);
    remove_copies();
}

static void only_files(int is_sender) {
    for (int i = 0; i < FILES; i++)
        if (is_sender) read_file(i, contents[0]); else write_file(i, contents[0]);
}

int main(void) {
    char name[96], command[96];
    snprintf(folder, sizeof folder, "/dev/shm/small-files-%d", getpid());
    need(mkdir(folder, 0700) == 0, "folder");
    sha256 = EVP_MD_fetch(NULL, "SHA256", NULL);
    for (int i = 0; i < FILES; i++) {
        path(name, "source", i);
        int file = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        need(file >= 0 && write(file, contents[0], SIZE) == SIZE && close(file) == 0, "source");
    }
    hash(contents[0], contents[0] + SIZE);
    measure("only the files: read and hashed; created, hashed, renamed", 1, only_files);
    measure("in turn, in one thread", 1, in_one_thread);
    measure("in turn, with the threads of a library", 1, with_threads);
    measure("in turn, with the threads of a library and their code", 1, with_threads_and_code);
    measure("16 at once, in one thread", AT_ONCE, in_one_thread);
    measure("16 at once, with the threads of a library", AT_ONCE, with_threads);
    measure("16 at once, with the threads of a library and their code", AT_ONCE, with_threads_and_code);
    snprintf(command, sizeof command, "rm -r %s", folder);
    return system(command);
}
