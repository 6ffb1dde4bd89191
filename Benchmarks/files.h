// SPDX-License-Identifier: Apache-2.0
//
// The files of the twin: read, SHA-256, TLS, SHA-256, write, with nothing else in between.
//
// A file is an OPENING with its size, MESSAGEs of up to 64 KiB, and a CHECKSUM with the digest; the server compares size
// and digest, renames the file, and answers DONE. `file` begins the next one after that answer, `files` has up to 16 on
// the way. Both sides keep their files in the folder that MULTIPEER_BENCH_FOLDER names, which is in memory: the client
// makes its files before the link, the server makes each when it is opened, as the library does.
#pragma once
#include <openssl/rand.h>

enum { AT_ONCE = 16, BLOCK = 1 << 20 };

static struct {
    int folder, file;                                       // the file that is being sent or received
    long opened;
    size_t left;
    EVP_MD *algorithm;
    EVP_MD_CTX *digest;
} work = { .file = -1 };

static void name_file(char name[32], const char *what, long number) { snprintf(name, 32, "%s-%ld", what, number); }

/// Opens the folder, and fills the client's files: random bytes, so that nothing is compressed or shared.
static void open_folder(void) {
    const char *path = getenv("MULTIPEER_BENCH_FOLDER");
    work.folder = open(path ? path : "/dev/shm", O_DIRECTORY | O_CLOEXEC);
    work.algorithm = EVP_MD_fetch(NULL, "SHA256", NULL);
    work.digest = EVP_MD_CTX_new();
    if (work.folder < 0 || !work.algorithm || !work.digest) die("folder");
    if (bench.is_server) return;
    static unsigned char block[BLOCK];
    if (RAND_bytes(block, BLOCK) != 1) die("random bytes");
    for (long i = 0; i < bench.count; i++) {
        char name[32];
        name_file(name, "source", i);
        int file = openat(work.folder, name, O_CREAT | O_TRUNC | O_WRONLY | O_CLOEXEC, 0600);
        if (file < 0) die("source");
        for (size_t left = bench.size; left > 0;) {
            size_t part = left < BLOCK ? left : BLOCK;
            if (write(file, block, part) != (ssize_t)part) die("source");
            left -= part;
        }
        close(file);
    }
}

/// Returns whether a file is open, or may be opened before the next answer.
static bool has_more_of_files(void) {
    long most = bench.mode == FILE_IN_TURN ? 1 : AT_ONCE;
    return work.file >= 0 || (work.opened < bench.count && work.opened - bench.received < most);
}

/// Sends one frame: the opening, the next piece, or the digest.
static void send_piece(struct link *l) {
    static unsigned char piece[LONGEST];
    if (work.file < 0) {
        char name[32];
        off_t size;
        name_file(name, "source", work.opened++);
        work.file = openat(work.folder, name, O_RDONLY | O_CLOEXEC);
        if (work.file < 0 || (size = lseek(work.file, 0, SEEK_END)) <= 0) die("source");
        posix_fadvise(work.file, 0, 0, POSIX_FADV_SEQUENTIAL);
        lseek(work.file, 0, SEEK_SET);
        work.left = (size_t)size;
        if (EVP_DigestInit_ex2(work.digest, work.algorithm, NULL) != 1) die("digest");
        for (int i = 0; i < 8; i++) piece[i] = (unsigned char)((size_t)size >> (56 - 8 * i));
        send_frame(l, OPENING, piece, 8);
    } else if (work.left > 0) {
        ssize_t n = read(work.file, piece, work.left < LONGEST ? work.left : LONGEST);
        if (n <= 0 || EVP_DigestUpdate(work.digest, piece, (size_t)n) != 1) die("read");
        work.left -= (size_t)n;
        send_frame(l, MESSAGE, piece, (size_t)n);
    } else {
        if (EVP_DigestFinal_ex(work.digest, piece, NULL) != 1) die("digest");
        send_frame(l, CHECKSUM, piece, DIGEST);
        close(work.file);
        work.file = -1;
        bench.sent++;
    }
}

/// Writes what one frame says, and answers when a file is complete.
static void store_piece(struct link *l, enum kind kind, const unsigned char *bytes, size_t count) {
    char draft[32], name[32];
    name_file(draft, "draft", work.opened);
    if (kind == OPENING && count == 8 && work.file < 0) {
        work.left = 0;
        for (int i = 0; i < 8; i++) work.left = work.left << 8 | bytes[i];
        work.file = openat(work.folder, draft, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
        if (work.file < 0 || work.left != bench.size) die("opening");
        if (EVP_DigestInit_ex2(work.digest, work.algorithm, NULL) != 1) die("digest");
    } else if (kind == MESSAGE && work.file >= 0 && count <= work.left) {
        if (EVP_DigestUpdate(work.digest, bytes, count) != 1) die("digest");
        if (write(work.file, bytes, count) != (ssize_t)count) die("write");
        work.left -= count;
        bench.bytes += (long long)count;
    } else if (kind == CHECKSUM && count == DIGEST && work.file >= 0 && work.left == 0) {
        unsigned char mine[DIGEST];
        if (EVP_DigestFinal_ex(work.digest, mine, NULL) != 1 || memcmp(mine, bytes, DIGEST)) die("the file differs");
        close(work.file);
        name_file(name, "copy", work.opened++);
        if (renameat(work.folder, draft, work.folder, name)) die("rename");
        work.file = -1;
        bench.received++;
        send_frame(l, DONE, mine, 8);
    } else {
        die("frame kind");
    }
}
