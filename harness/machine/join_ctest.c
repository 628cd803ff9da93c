/* join_ctest.c: becomes `testlog run --join`, as ctest's entry says. The
 * command of such an entry is the program itself, which editors can debug. */
#include "join_ctest.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/machine/process_tree.h"
#include "trace/base/strings.h"

enum { SIZE = 65536, WORDS = 1024 };

/* Reads the arguments of this process, as /proc has them; how many bytes. */
static size_t read_words(char words[SIZE])
{
    ssize_t size = test_log_process_file(getpid(), "cmdline", words, SIZE);

    return size > 0 ? (size_t)size : 0;
}

static uint64_t hash_of(const char *words, size_t size)
{
    uint64_t hash = TRACE_HASH;

    for (size_t i = 0; i < size; i += strlen(words + i) + 1)
        hash = trace_hash_string(hash, words + i);
    return hash;
}

uint64_t test_log_own_command(void)
{
    const char *given = test_log_variable(TEST_LOG_JOIN_COMMAND);
    static char words[SIZE];
    size_t size = given ? 0 : read_words(words);

    return given ? strtoull(given, NULL, 10) : hash_of(words, size);
}

/* "--gtest_filter=Suite.Test" is a flag of ours; other words of GoogleTest are
 * for the program. */
static void add_words(char **argv, size_t room, char *words, size_t size,
                      const char *dir, bool ours)
{
    static const char filter[] = "--gtest_filter=", argument[] = "--argument=";
    size_t first = strlen(words) + 1, count = 1;

    argv[0] = (char *)"testlog";
    argv[count++] = (char *)"run";
    if (asprintf(&argv[count], "--join=%s", dir) >= 0)
        count++;
    for (size_t i = first; !ours && i < size && count + 3 < room;
         i += strlen(words + i) + 1)
        if (strncmp(words + i, filter, strlen(filter)) != 0 &&
            asprintf(&argv[count], "%s%s", argument, words + i) >= 0)
            count++;
    argv[count++] = words;
    argv[count++] = (char *)"--";
    for (size_t i = first; i < size && count + 1 < room;
         i += strlen(words + i) + 1) {
        if (ours)
            argv[count++] = words + i;
        else if (!strncmp(words + i, filter, strlen(filter)) &&
                 asprintf(&argv[count], "--filter=%s",
                          words + i + strlen(filter)) >= 0)
            count++;
    }
    argv[count] = NULL;
}

void test_log_join_ctest(bool ours)
{
    const char *dir = test_log_variable(TEST_LOG_JOIN);
    const char *by = test_log_variable(TEST_LOG_JOIN_BY);
    static char words[SIZE], *argv[WORDS];
    char hash[32];
    size_t size;

    if (!dir || !by || test_log_variable("TESTLOG_RUN") ||
        test_log_tracer_of(getpid()))
        return;
    size = read_words(words);
    if (!size || size == SIZE - 1 || access(by, X_OK))
        return;
    snprintf(hash, sizeof(hash), "%" PRIu64, hash_of(words, size));
    setenv(TEST_LOG_JOIN_COMMAND, hash, 1);
    add_words(argv, WORDS, words, size, dir, ours);
    unsetenv(TEST_LOG_JOIN);
    unsetenv(TEST_LOG_JOIN_BY);
    execv(by, argv);
    unsetenv(TEST_LOG_JOIN_COMMAND);
}
