/* process_memory.c: reads the memory of a process, or the part that a dead one
 * left. */
#include <fcntl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "stacks.h"

/* A dead process leaves no code, but its file has it. */
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

bool stacks_copy(pid_t process, uint64_t address, void *bytes, size_t size)
{
    struct iovec here = {bytes, size};
    struct iovec there = {(void *)(uintptr_t)address, size};

    if (stacks_left())
        return stacks_copy_left(address, bytes, size) ||
               copy_code(address, bytes, size);
    return process_vm_readv(process, &here, 1, &there, 1, 0) == (ssize_t)size;
}
