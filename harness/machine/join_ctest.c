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
    static uint64_t hash;

    if (!hash)
        hash = given ? strtoull(given, NULL, 10)
                     : hash_of(words, read_words(words));
    unsetenv(TEST_LOG_JOIN_COMMAND); /* it is not for the programs */
    return hash;
}

static bool add_word(char **argv, size_t *count, const char *before, char *word)
{
    if (*count + 1 >= WORDS)
        return false;
    argv[*count] = word;
    if (*before && asprintf(&argv[*count], "%s%s", before, word) < 0)
        return false;
    argv[++*count] = NULL;
    return true;
}

/* "--gtest_filter=Suite.Test" is a flag of ours; other words of GoogleTest are
 * for the program. False if there are too many words, or others than in an
 * entry of ctest. */
static bool add_words(char **argv, char *words, size_t size, bool ours)
{
    static const char filter[] = "--gtest_filter=";
    static char name[] = "testlog", run[] = "run", end[] = "--";
    const size_t filtering = strlen(filter), first = strlen(words) + 1;
    char *as = getenv(TEST_LOG_JOIN_AS);
    size_t count = 0;
    bool fits = add_word(argv, &count, "", name) &&
                add_word(argv, &count, "", run) &&
                add_word(argv, &count, "--join=", getenv(TEST_LOG_JOIN)) &&
                (!as || add_word(argv, &count, "--join-as=", as));

    for (size_t i = first; !ours && i < size && fits;
         i += strlen(words + i) + 1)
        if (strncmp(words + i, filter, filtering) != 0)
            fits = strcmp(words + i, "--gtest_list_tests") != 0 &&
                   add_word(argv, &count, "--argument=", words + i);
    fits = fits && add_word(argv, &count, "", words) &&
           add_word(argv, &count, "", end);
    for (size_t i = first; i < size && fits; i += strlen(words + i) + 1)
        if (ours)
            fits = add_word(argv, &count, "", words + i);
        else if (!strncmp(words + i, filter, filtering))
            fits = !strpbrk(words + i + filtering, "*?:-") &&
                   add_word(argv, &count, "--filter=", words + i + filtering);
    return fits;
}

void test_log_join_ctest(bool ours)
{
    const char *dir = getenv(TEST_LOG_JOIN);
    const char *by = test_log_variable(TEST_LOG_JOIN_BY);
    static char words[SIZE], *argv[WORDS];
    char hash[32];
    size_t size;

    if (!dir || !*dir || !by || test_log_variable("TESTLOG_RUN") ||
        test_log_tracer_of(getpid()))
        return;
    size = read_words(words);
    if (!size || size == SIZE - 1 || access(by, X_OK) ||
        !add_words(argv, words, size, ours))
        return;
    snprintf(hash, sizeof(hash), "%" PRIu64, hash_of(words, size));
    setenv(TEST_LOG_JOIN_COMMAND, hash, 1);
    unsetenv(TEST_LOG_JOIN);
    unsetenv(TEST_LOG_JOIN_BY);
    unsetenv(TEST_LOG_JOIN_AS);
    execv(by, argv);
    unsetenv(TEST_LOG_JOIN_COMMAND);
}
