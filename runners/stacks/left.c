/* left.c: prints the stack that a process left in a recording when it crashed.
 */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "stacks.h"

static struct trace_crash crash;
static unsigned char bytes[TRACE_CRASH_STACK + TRACE_CRASH_MAPPINGS + 1];
static bool is_read;

const struct trace_crash *stacks_left(void)
{
    return is_read ? &crash : NULL;
}

FILE *stacks_left_mappings(void)
{
    return crash.mappings_size
               ? fmemopen(bytes + crash.stack_size, crash.mappings_size, "r")
               : NULL;
}

/* Code is in its file. */
static bool copy_code(uint64_t address, void *to, size_t size)
{
    struct stacks_mapping mapping;
    bool found = false;
    int fd;

    if (!stacks_find_mapping(0, address, &mapping) ||
        mapping.access[2] != 'x' || mapping.end - address < size)
        return false;
    fd = open(mapping.name, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd >= 0) {
        found = pread(fd, to, size,
                      (off_t)(address - mapping.begin + mapping.offset)) ==
                (ssize_t)size;
        close(fd);
    }
    return found;
}

bool stacks_copy_left(uint64_t address, void *to, size_t size)
{
    uint64_t at = address - crash.begin;

    if (size > crash.stack_size || at > crash.stack_size - size)
        return copy_code(address, to, size);
    memcpy(to, bytes + at, size);
    return true;
}

/* False if it is damaged. */
static bool read_left(void)
{
    size_t size;

    if (fread(&crash, sizeof(crash), 1, stdin) != 1)
        return false;
    size = fread(bytes, 1, sizeof(bytes) - 1, stdin);
    crash.name[sizeof(crash.name) - 1] = '\0';
    is_read = (uint64_t)crash.stack_size + crash.mappings_size == size &&
              crash.register_count <= STACKS_REGISTERS;
    return is_read;
}

/* Without a stack, it is known where the thread was. */
static void put_frames(const struct stacks_caller *caller)
{
    const uint64_t places[] = {crash.instruction, caller->returns_to};
    static struct stacks_stack stack;
    struct stacks_mapping mapping;
    struct stacks_frame frame;

    stacks_unwind_left(&crash, caller, &stack);
    for (size_t i = 0; i < stack.count; i++)
        stacks_put_frame(&stack.frames[i]);
    for (size_t i = 0; i < 2 && !stack.count; i++)
        if (places[i]) {
            frame = stacks_place(0, places[i], &mapping);
            stacks_put_frame(&frame);
        }
    if (stack.more)
        stacks_put("more");
}

int stacks_put_left(void)
{
    struct stacks_fault fault;
    struct stacks_caller caller;

    if (!read_left())
        return 2;
    fault = (struct stacks_fault){.signal = crash.signal,
                                  .code = crash.code,
                                  .address = crash.address,
                                  .stack = crash.stack,
                                  .instruction = crash.instruction};
    caller = stacks_find_caller(&fault, 0);
    stacks_put_fault(&fault, &caller, 0);
    stacks_put("process\t%u\t%s", crash.process, crash.name);
    stacks_put("thread\t%u\t%s\t\t", crash.thread, crash.name);
    put_frames(&caller);
    stacks_put("end");
    return 0;
}
