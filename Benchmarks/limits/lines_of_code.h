// SPDX-License-Identifier: Apache-2.0
//
// Code that does nothing, for the programs here that show what it takes to run through much of it.
#pragma once

#ifdef __aarch64__
#define JUMP "b"
#define WORK "add x9, x9, #3\nadd x10, x10, #5\nadd x11, x11, #7\n"
#else
#define JUMP "jmp"
#define WORK "add $3, %eax\nadd $5, %ecx\nadd $7, %edx\n"
#endif
#define LINE WORK WORK WORK WORK JUMP " 1f\n.balign 64\n"
// A function: 13 instructions in each line, seven lines in a page. Pages are 4,160 bytes apart, so that they also differ in their
// sets of the cache.
#define CODE(name, pages) \
    ".balign 4096\n" name ":\n.rept " #pages "\n.rept 6\n" LINE "1:\n.endr\n" LINE ".skip 3712\n1:\n.endr\nret\n"
