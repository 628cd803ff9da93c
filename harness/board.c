/* board.c: which process runs which test.
 *
 * Criterion tells nobody the processes of its tests. Each notes its own, with
 * one write to a file in memory that the runner owns.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "watch.h"

#define VARIABLE "TESTLOG_BOARD"

struct note {
    uint32_t pid;
    char name[512]; /* as test_log_name has it */
};

static int board = -1;
static off_t seen;
static size_t expected; /* where the next result is likely to be */

int test_log_board_open(void)
{
    char path[64];

    board = memfd_create("testlog-board", MFD_CLOEXEC);
    if (board < 0)
        return -1;
    seen = 0;
    expected = 0;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)getpid(), board);
    return setenv(VARIABLE, path, 1);
}

void test_log_board_close(void)
{
    if (board >= 0)
        close(board);
    board = -1;
    unsetenv(VARIABLE);
}

void test_log_board_note(void)
{
    const char *path = getenv(VARIABLE);
    const struct criterion_test *test = criterion_current_test;
    struct note note = {.pid = (uint32_t)getpid()};
    int fd = path && test ? open(path, O_WRONLY | O_APPEND | O_CLOEXEC) : -1;

    if (fd >= 0) {
        snprintf(note.name, sizeof(note.name), "%s/%s", test->category,
                 test->name);
        /* Without the note the test runs all the same. */
        if (write(fd, &note, sizeof(note)) < 0)
            note.pid = 0;
        close(fd);
    }
    unsetenv(VARIABLE);
}

static void give(struct test_log_run *run, const struct note *note)
{
    for (size_t i = 0; i < run->count; i++) {
        size_t number = (expected + i) % run->count;
        struct test_log_result *result = &run->results[number];

        if (strcmp(test_log_name(result), note->name))
            continue;
        result->pid = note->pid;
        expected = number + 1;
        return;
    }
}

void test_log_board_read(struct test_log_run *run)
{
    struct note note;

    while (board >= 0 &&
           pread(board, &note, sizeof(note), seen) == sizeof(note)) {
        seen += (off_t)sizeof(note);
        note.name[sizeof(note.name) - 1] = '\0';
        give(run, &note);
    }
}
