/* left.c: what a process left in a recording when it crashed. */
#include <stdio.h>
#include <string.h>

#include "stacks.h"

static struct trace_crash crash;
static unsigned char bytes[TRACE_CRASH_STACK + TRACE_CRASH_MAPPINGS + 1];
static bool is_read;

const struct trace_crash *stacks_left(void)
{
    return is_read ? &crash : NULL;
}

const struct trace_crash *stacks_read_left(void)
{
    size_t size;

    if (fread(&crash, sizeof(crash), 1, stdin) != 1)
        return NULL;
    size = fread(bytes, 1, sizeof(bytes) - 1, stdin);
    crash.name[sizeof(crash.name) - 1] = '\0';
    is_read = (uint64_t)crash.stack_size + crash.mappings_size == size &&
              crash.register_count <= STACKS_REGISTERS;
    return stacks_left();
}

FILE *stacks_left_mappings(void)
{
    return crash.mappings_size
               ? fmemopen(bytes + crash.stack_size, crash.mappings_size, "r")
               : NULL;
}

bool stacks_copy_left(uint64_t address, void *to, size_t size)
{
    uint64_t at = address - crash.begin;

    if (size > crash.stack_size || at > crash.stack_size - size)
        return false;
    memcpy(to, bytes + at, size);
    return true;
}
