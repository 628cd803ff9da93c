/* board.c: which process runs which test, and what it has to say of itself.
 *
 * Criterion tells nobody the processes of its tests. Each notes its own, with
 * one write to a file in memory that the runner owns, and keeps its note
 * mapped: what it adds later cannot fail, and stays whatever becomes of the
 * process.
 */
#include <fcntl.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "watch.h"

#define VARIABLE "TESTLOG_BOARD"

enum { NOTE_SIZE = 1024, PAGE = 4096 };

/* Of a size that no page's end divides. */
struct note {
    uint32_t pid;
    uint32_t mapped;   /* what follows is to be relied on */
    uint32_t returned; /* the test's body has, or an assertion has left it */
    uint32_t checking; /* the leak checker is at work */
    uint32_t failed;   /* 1: about to say why, 2: it is said */
    char name[492];    /* as test_log_name has it */
    char reason[512];
};

_Static_assert(sizeof(struct note) == NOTE_SIZE, "see above");

static struct note nowhere, *mine = &nowhere; /* in a worker */
static pid_t worker;

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

/* Maps the note that was just written, in front of where the file now is. */
static void map(int fd)
{
    off_t at = lseek(fd, 0, SEEK_CUR) - NOTE_SIZE;
    char *page = MAP_FAILED;

    if (at >= 0)
        page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                    at - at % PAGE);
    if (page == MAP_FAILED)
        return;
    mine = (void *)(page + at % PAGE);
    mine->mapped = 1;
}

void test_log_board_note(void)
{
    const char *path = getenv(VARIABLE);
    const struct criterion_test *test = criterion_current_test;
    struct note note = {.pid = (uint32_t)getpid()};
    int fd = path && test ? open(path, O_RDWR | O_APPEND | O_CLOEXEC) : -1;

    worker = getpid();
    if (fd >= 0) {
        snprintf(note.name, sizeof(note.name), "%s/%s", test->category,
                 test->name);
        /* Without the note the test runs all the same. */
        if (write(fd, &note, sizeof(note)) == sizeof(note))
            map(fd);
        close(fd);
    }
    unsetenv(VARIABLE);
}

bool test_log_forked(void)
{
    return worker && getpid() != worker;
}

void test_log_board_returned(void)
{
    mine->returned = 1;
}

void test_log_board_checking(bool on)
{
    mine->checking = on;
}

void test_log_board_fail(const char *format, ...)
{
    uint32_t first = 0;
    va_list args;

    if (!__atomic_compare_exchange_n(&mine->failed, &first, 1, false,
                                     __ATOMIC_RELAXED, __ATOMIC_RELAXED))
        return;
    va_start(args, format);
    vsnprintf(mine->reason, sizeof(mine->reason), format, args);
    va_end(args);
    __atomic_store_n(&mine->failed, 2, __ATOMIC_RELEASE);
}

static void give(struct test_log_run *run, const struct note *note, off_t at)
{
    for (size_t i = 0; i < run->count; i++) {
        size_t number = (expected + i) % run->count;
        struct test_log_result *result = &run->results[number];

        if (strcmp(test_log_name(result), note->name))
            continue;
        result->pid = note->pid;
        result->note = (size_t)at + 1;
        expected = number + 1;
        return;
    }
}

void test_log_board_read(struct test_log_run *run)
{
    struct note note;

    while (board >= 0 &&
           pread(board, &note, sizeof(note), seen) == sizeof(note)) {
        note.name[sizeof(note.name) - 1] = '\0';
        give(run, &note, seen);
        seen += (off_t)sizeof(note);
    }
}

struct test_log_said test_log_board_said(struct test_log_run *run,
                                         const struct test_log_result *result)
{
    static struct note note; /* of which the answer is a part */
    struct test_log_said said = {.returned = true};

    test_log_board_read(run);
    if (board < 0 || !result->note ||
        pread(board, &note, sizeof(note), (off_t)result->note - 1) !=
            sizeof(note) ||
        !note.mapped)
        return said;
    note.reason[sizeof(note.reason) - 1] = '\0';
    said.returned = note.returned;
    said.checking = note.checking;
    said.fault = note.failed == 2 ? note.reason : NULL;
    return said;
}
