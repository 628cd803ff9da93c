/* peer.h: the protocol of a program that is measured beside ours. It reads
 * lines "WORK COUNT", does the work that many times, and answers each with the
 * nanoseconds of one. It answers "-" if it cannot do the work.
 */
#ifndef TESTS_BENCH_PEER_H
#define TESTS_BENCH_PEER_H

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define keep(x) __asm__ volatile("" : : "g"(x) : "memory")

/* The work takes its number of repetitions and returns nanoseconds for each. */
struct work {
    const char *name;
    double (*run)(size_t count);
};

__attribute__((no_instrument_function)) static inline double now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* scratch_file opens and empties the file that lines are written to. */
__attribute__((no_instrument_function)) static inline int scratch_file(void)
{
    const char *path = getenv("BENCH_FILE");
    int fd = open(path ? path : "/dev/null",
                  O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);

    if (fd < 0 || (path && ftruncate(fd, 0))) {
        fprintf(stderr, "bench: %s: %s\n", path, strerror(errno));
        exit(1);
    }
    return fd;
}

/* serve does what stdin asks for, until its end. */
__attribute__((no_instrument_function)) static inline int serve(
    const struct work *works, size_t count)
{
    char name[64];
    size_t times;

    while (scanf("%63s %zu", name, &times) == 2) {
        size_t i = 0;

        while (i < count && strcmp(works[i].name, name))
            i++;
        if (i < count)
            printf("%.3f\n", works[i].run(times));
        else
            puts("-");
        fflush(stdout);
    }
    return 0;
}

#endif
