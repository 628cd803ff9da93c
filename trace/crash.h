/* crash.h: what a process leaves in the recording when it crashes, so that its
 * stack can be read later. Private to the project. */
#ifndef TRACE_CRASH_H
#define TRACE_CRASH_H

#include <stddef.h>
#include <stdint.h>

enum {
    TRACE_CRASH_REGISTERS = 32,
    TRACE_CRASH_NAME = 16,
    TRACE_CRASH_STACK = 32 * 1024,    /* bytes of it that are copied */
    TRACE_CRASH_MAPPINGS = 24 * 1024, /* bytes of /proc/self/maps */
};

/* The value of a CRASH record. `stack_size` bytes of the stack follow it, then
 * `mappings_size` bytes of text. */
struct trace_crash {
    uint32_t process, thread;
    int32_t signal, code;
    uint64_t address;     /* si_addr */
    uint64_t stack;       /* the stack pointer */
    uint64_t instruction; /* its address; 0: registers are unknown */
    uint64_t registers[TRACE_CRASH_REGISTERS]; /* by DWARF's numbers */
    uint64_t register_count;
    uint64_t begin; /* address of the copied stack */
    uint32_t stack_size, mappings_size;
    char name[TRACE_CRASH_NAME]; /* of the thread */
};

#endif
