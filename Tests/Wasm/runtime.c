// What Embedded Swift expects of a C library, and a way to print and to exit, for a bare wasm32.
#include <stddef.h>
#include <stdint.h>

typedef struct { const void *bytes; size_t count; } Piece;
__attribute__((import_module("wasi_snapshot_preview1"), import_name("fd_write")))
int32_t fd_write(int32_t descriptor, const Piece *pieces, size_t count, size_t *written);
__attribute__((import_module("wasi_snapshot_preview1"), import_name("proc_exit"), noreturn))
void proc_exit(int32_t code);

int32_t selftest(void);
void _start(void) { proc_exit(selftest()); }

int putchar(int character) {
    unsigned char byte = (unsigned char)character;
    Piece piece = { &byte, 1 };
    size_t written;
    fd_write(1, &piece, 1, &written);
    return character;
}

// Memory is only ever taken: a run is short.
extern unsigned char __heap_base;
static uintptr_t end = 0;

int posix_memalign(void **result, size_t alignment, size_t size) {
    if (end == 0) end = (uintptr_t)&__heap_base;
    uintptr_t start = (end + alignment - 1) & ~(uintptr_t)(alignment - 1);
    end = start + size;
    size_t pages = (end + 65535) / 65536, have = __builtin_wasm_memory_size(0);
    if (pages > have && __builtin_wasm_memory_grow(0, pages - have) == (size_t)-1) return 12;
    *result = (void *)start;
    return 0;
}

void free(void *pointer) { (void)pointer; }

void *memcpy(void *to, const void *from, size_t count) {
    unsigned char *target = to;
    const unsigned char *source = from;
    while (count--) *target++ = *source++;
    return to;
}

void *memmove(void *to, const void *from, size_t count) {
    unsigned char *target = to;
    const unsigned char *source = from;
    if (target < source) return memcpy(to, from, count);
    while (count--) target[count] = source[count];
    return to;
}

void *memset(void *to, int value, size_t count) {
    unsigned char *target = to;
    while (count--) *target++ = (unsigned char)value;
    return to;
}

int memcmp(const void *one, const void *other, size_t count) {
    const unsigned char *a = one, *b = other;
    for (; count--; a++, b++) if (*a != *b) return *a - *b;
    return 0;
}

uintptr_t __stack_chk_guard = 0x5A17C0DE;
void __stack_chk_fail(void) { proc_exit(70); }

// Only seeds the hashing of dictionaries.
void arc4random_buf(void *bytes, size_t count) { memset(bytes, 7, count); }
