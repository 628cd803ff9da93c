/* starting.c: workers that hang or are slow before their test begins. */
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/hooks.h>
#include <testlog/test_log.h>

/* Counts the workers; worker number HANG_AT hangs. */
__attribute__((constructor)) static void start(void)
{
    const char *at = getenv("HANG_AT"), *counter = getenv("COUNTER");
    char number[16];
    int count;
    FILE *file;

    if (!at || !counter || !getenv("BXFI_MAP"))
        return;
    file = fopen(counter, "a");
    if (!file)
        abort();
    fputc('x', file);
    fclose(file);
    file = fopen(counter, "r");
    for (count = 0; fgetc(file) == 'x';)
        count++;
    fclose(file);
    snprintf(number, sizeof(number), "%d", count);
    while (!strcmp(at, number))
        pause();
}

/* A hook that forks must not be taken for a worker. */
ReportHook(PRE_SUITE)(struct criterion_suite_set *set)
{
    (void)set;
    if (getenv("FORKING") && !fork()) {
        setsid();
        sleep(3);
        _exit(0);
    }
}

TEST_LOG(starting, a)
{
}

TEST_LOG(starting, b, .timeout = 1)
{
}

TEST_LOG(starting, c)
{
}

/* Each takes a third of its timeout. */
#define BRIEF(name)                                                            \
    TEST_LOG(brief, name, .timeout = 3)                                        \
    {                                                                          \
        sleep(1);                                                              \
    }
BRIEF(a)
BRIEF(b)
BRIEF(c)
BRIEF(d)
