/* faults.c: preloaded: makes one call of a program fail, or that one and all
 * later ones. FAULT_CALL names the function. FAULT_NTH counts the program's own
 * calls of it, without those of libraries, in each process. FAULT_IN is
 * "runner" or "worker". With FAULT_ALL all later calls fail, too. The first
 * word of the file FAULT_COUNT receives the largest number of calls in a
 * process.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <link.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *chosen; /* NULL: no call fails in this process */
static uint32_t nth, calls, *count;
static bool all;
static uintptr_t from, to; /* the program */

static int find_program(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size;
    (void)unused;
    for (size_t i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
            continue;
        from = object->dlpi_addr + part->p_vaddr;
        to = from + part->p_memsz;
    }
    return 1; /* the program comes first */
}

/* Maps the file with raw system calls, because the functions may be the ones
 * that fail. */
static void map_count(const char *path)
{
    long fd = syscall(SYS_openat, AT_FDCWD, path, O_RDWR | O_CLOEXEC, 0);
    long at = syscall(SYS_mmap, NULL, sizeof(*count), PROT_READ | PROT_WRITE,
                      MAP_SHARED, fd, 0);

    syscall(SYS_close, fd);
    if (fd >= 0 && at > 0)
        count = (uint32_t *)at;
}

__attribute__((constructor)) static void begin(void)
{
    const char *in = getenv("FAULT_IN"), *path = getenv("FAULT_COUNT");
    const char *number = getenv("FAULT_NTH");
    const char *session = getenv("TESTLOG_SESSION");
    bool worker = session && strstr(session, "nested=");

    if (!in || !path || !number || worker != !strcmp(in, "worker"))
        return;
    dl_iterate_phdr(find_program, NULL);
    map_count(path);
    nth = (uint32_t)strtoul(number, NULL, 10);
    all = getenv("FAULT_ALL") != NULL;
    chosen = getenv("FAULT_CALL");
}

static bool fails(const char *name, const void *caller, int error)
{
    uintptr_t place = (uintptr_t)caller;
    uint32_t number, most;

    if (!chosen || strcmp(chosen, name) || place < from || place >= to)
        return false;
    number = __atomic_add_fetch(&calls, 1, __ATOMIC_RELAXED);
    most = count ? __atomic_load_n(count, __ATOMIC_RELAXED) : number;
    while (number > most &&
           !__atomic_compare_exchange_n(count, &most, number, false,
                                        __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        ;
    if (all ? number < nth : number != nth)
        return false;
    errno = error;
    return true;
}

/* X(name, result, failing with, errno, parameters, arguments) */
#define CALLS(X)                                                               \
    X(strdup, char *, NULL, ENOMEM, (const char *a), (a))                      \
    X(realpath, char *, NULL, ENOMEM, (const char *a, char *b), (a, b))        \
    X(vasprintf, int, -1, ENOMEM, (char **a, const char *b, va_list c),        \
      (a, b, c))                                                               \
    X(fopen, FILE *, NULL, EMFILE, (const char *a, const char *b), (a, b))     \
    X(fdopen, FILE *, NULL, ENOMEM, (int a, const char *b), (a, b))            \
    X(fclose, int, EOF, ENOSPC, (FILE * a), (a))                               \
    X(fflush, int, EOF, ENOSPC, (FILE * a), (a))                               \
    X(fwrite, size_t, 0, ENOSPC, (const void *a, size_t b, size_t c, FILE *d), \
      (a, b, c, d))                                                            \
    X(write, ssize_t, -1, ENOSPC, (int a, const void *b, size_t c), (a, b, c)) \
    X(pwrite, ssize_t, -1, EIO, (int a, const void *b, size_t c, off_t d),     \
      (a, b, c, d))                                                            \
    X(read, ssize_t, -1, EIO, (int a, void *b, size_t c), (a, b, c))           \
    X(pread, ssize_t, -1, EIO, (int a, void *b, size_t c, off_t d),            \
      (a, b, c, d))                                                            \
    X(mmap, void *, MAP_FAILED, ENOMEM,                                        \
      (void *a, size_t b, int c, int d, int e, off_t f), (a, b, c, d, e, f))   \
    X(madvise, int, -1, EFAULT, (void *a, size_t b, int c), (a, b, c))         \
    X(posix_fallocate, int, ENOSPC, ENOSPC, (int a, off_t b, off_t c),         \
      (a, b, c))                                                               \
    X(ftruncate, int, -1, EIO, (int a, off_t b), (a, b))                       \
    X(renameat, int, -1, EACCES, (int a, const char *b, int c, const char *d), \
      (a, b, c, d))                                                            \
    X(linkat, int, -1, EPERM,                                                  \
      (int a, const char *b, int c, const char *d, int e), (a, b, c, d, e))    \
    X(mkdir, int, -1, ENOSPC, (const char *a, mode_t b), (a, b))               \
    X(mkdirat, int, -1, ENOSPC, (int a, const char *b, mode_t c), (a, b, c))   \
    X(mkdtemp, char *, NULL, ENOSPC, (char *a), (a))                           \
    X(symlinkat, int, -1, EPERM, (const char *a, int b, const char *c),        \
      (a, b, c))                                                               \
    X(stat, int, -1, EIO, (const char *a, struct stat *b), (a, b))             \
    X(fstat, int, -1, EIO, (int a, struct stat *b), (a, b))                    \
    X(dup, int, -1, EMFILE, (int a), (a))                                      \
    X(dup2, int, -1, EBADF, (int a, int b), (a, b))                            \
    X(memfd_create, int, -1, EMFILE, (const char *a, unsigned b), (a, b))      \
    X(setenv, int, -1, ENOMEM, (const char *a, const char *b, int c),          \
      (a, b, c))                                                               \
    X(pthread_create, int, EAGAIN, EAGAIN,                                     \
      (pthread_t * a, const pthread_attr_t *b, void *(*c)(void *), void *d),   \
      (a, b, c, d))

#define TEST_X(name, type, failing, error, parameters, arguments)              \
    __attribute__((visibility("default"))) type name parameters                \
    {                                                                          \
        static type(*next) parameters;                                         \
                                                                               \
        if (!next)                                                             \
            *(void **)&next = dlsym(RTLD_NEXT, #name);                         \
        if (fails(#name, __builtin_return_address(0), error))                  \
            return (failing);                                                  \
        return next arguments;                                                 \
    }
CALLS(TEST_X)
#undef TEST_X

extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

#define CALLER __builtin_return_address(0)

void *malloc(size_t size)
{
    return fails("malloc", CALLER, ENOMEM) ? NULL : __libc_malloc(size);
}

void *calloc(size_t number, size_t size)
{
    return fails("malloc", CALLER, ENOMEM) ? NULL : __libc_calloc(number, size);
}

void *realloc(void *old, size_t size)
{
    return fails("malloc", CALLER, ENOMEM) ? NULL : __libc_realloc(old, size);
}

int asprintf(char **to, const char *format, ...)
{
    va_list args;
    int size;

    if (fails("vasprintf", CALLER, ENOMEM))
        return -1;
    va_start(args, format);
    size = vasprintf(to, format, args);
    va_end(args);
    return size;
}

int open(const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (fails("open", CALLER, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list args;
    mode_t mode;

    va_start(args, flags);
    mode = va_arg(args, mode_t);
    va_end(args);
    if (fails("openat", CALLER, EMFILE))
        return -1;
    return (int)syscall(SYS_openat, folder, path, flags, mode);
}
