/* pending_output.c: finds what stdout holds back. The members of a FILE are
 * those of glibc, and nothing is pending with another C library. */
#include "harness/pending_output.h"

#include <stdio.h>
#include <sys/uio.h>
#include <unistd.h>

#ifdef __GLIBC__

enum { LINE_MOST = 65536 };

static size_t size_of(const FILE *file)
{
    return file->_IO_write_ptr > file->_IO_write_base
               ? (size_t)(file->_IO_write_ptr - file->_IO_write_base)
               : 0;
}

static void write_all(int fd, const char *at, size_t size)
{
    ssize_t wrote;

    for (; size; at += wrote, size -= (size_t)wrote) {
        wrote = write(fd, at, size);
        if (wrote <= 0)
            return;
    }
}

void test_log_write_pending(void)
{
    write_all(fileno_unlocked(stdout), stdout->_IO_write_base, size_of(stdout));
}

uint64_t test_log_pending_at(void)
{
    return (uint64_t)(uintptr_t)stdout;
}

static size_t copy(pid_t process, void *to, const void *from, size_t size)
{
    struct iovec local = {to, size}, other = {(void *)(uintptr_t)from, size};
    ssize_t got = process_vm_readv(process, &local, 1, &other, 1, 0);

    return got > 0 ? (size_t)got : 0;
}

void test_log_take_pending(pid_t process, uint64_t at, int fd)
{
    FILE file;
    char bytes[LINE_MOST];
    size_t pending;

    if (!at || copy(process, &file, (const void *)(uintptr_t)at,
                    sizeof(file)) != sizeof(file))
        return;
    pending = size_of(&file);
    if (pending > sizeof(bytes))
        pending = sizeof(bytes);
    write_all(fd, bytes, copy(process, bytes, file._IO_write_base, pending));
}

#else

void test_log_write_pending(void)
{
}

uint64_t test_log_pending_at(void)
{
    return 0;
}

void test_log_take_pending(pid_t process, uint64_t at, int fd)
{
    (void)process, (void)at, (void)fd;
}

#endif
