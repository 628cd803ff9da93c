/* worker_status.c: which process runs which test, and what it reports.
 *
 * Criterion does not tell which process runs a test. Each worker notes itself
 * in memory that it shares with the runner, and keeps its note mapped: what it
 * adds later cannot fail, and outlives the process.
 *
 * System V shared memory, because a worker inherits no descriptor, may not be
 * allowed to look into the runner's, and files in memory count against
 * RLIMIT_FSIZE. The segment is marked for removal at once, so it ends with the
 * last process that has it.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/watch.h"

#define VARIABLE "TESTLOG_BOARD"

enum { NOTE_SIZE = 1024, PAGE = 4096 };

struct note {
    uint32_t pid;
    uint32_t ready;    /* pid and name are there */
    uint32_t returned; /* the test's body has, or an assertion has left it */
    uint32_t checking; /* the leak checker is at work */
    uint32_t failed;   /* 1: about to say why, 2: it is said */
    char name[492];    /* as test_log_name has it */
    char reason[512];
};

/* The first page of the segment; notes follow it. */
struct board {
    uint32_t capacity;
    uint32_t taken; /* atomic; may exceed the capacity */
};

_Static_assert(sizeof(struct note) == NOTE_SIZE, "no page's end divides one");

static struct note nowhere, *mine = &nowhere; /* in a worker */
static pid_t worker;

static struct board *board; /* in the runner; NULL: there is none */
static bool *given;         /* notes that a result has */
static size_t seen;         /* notes in front of this one are given */
static size_t expected;     /* where the next result is likely to be */

static struct note *note_at(struct board *of, size_t number)
{
    return (struct note *)((char *)of + PAGE) + number;
}

static size_t size_for(size_t notes)
{
    return PAGE + (notes * NOTE_SIZE + PAGE - 1) / PAGE * PAGE;
}

/* ---- The runner ---- */

static struct board *make_board(size_t notes, int *id)
{
    void *memory;

    *id = shmget(IPC_PRIVATE, size_for(notes), IPC_CREAT | 0600);
    if (*id < 0)
        return NULL;
    memory = shmat(*id, NULL, 0);
    shmctl(*id, IPC_RMID, NULL); /* Linux lets others attach even now */
    return memory == (void *)-1 ? NULL : memory;
}

int test_log_status_open(size_t notes)
{
    char text[16];
    int id;

    seen = expected = 0;
    given = calloc(notes, sizeof(*given));
    board = given ? make_board(notes, &id) : NULL;
    if (!board)
        return -1;
    board->capacity = (uint32_t)notes;
    snprintf(text, sizeof(text), "%d", id);
    if (!setenv(VARIABLE, text, 1))
        return 0;
    test_log_status_close();
    errno = ENOMEM;
    return -1;
}

void test_log_status_close(void)
{
    if (board)
        shmdt(board);
    board = NULL;
    free(given);
    given = NULL;
    unsetenv(VARIABLE);
}

bool test_log_status_is_open(void)
{
    return board;
}

static void give(struct test_log_run *run, size_t number)
{
    const struct note *note = note_at(board, number);

    for (size_t i = 0; i < run->count; i++) {
        size_t at = (expected + i) % run->count;
        struct test_log_result *result = &run->results[at];

        if (strncmp(test_log_name(result), note->name, sizeof(note->name) - 1))
            continue;
        result->pid = note->pid;
        result->note = number + 1;
        result->unborn = false;
        expected = at + 1;
        return;
    }
}

void test_log_status_update(struct test_log_run *run)
{
    size_t taken;

    if (!board)
        return;
    taken = __atomic_load_n(&board->taken, __ATOMIC_RELAXED);
    for (size_t i = seen; i < taken && i < board->capacity; i++) {
        if (!given[i] &&
            __atomic_load_n(&note_at(board, i)->ready, __ATOMIC_ACQUIRE)) {
            give(run, i);
            given[i] = true;
        }
        seen += i == seen && given[i];
    }
}

struct test_log_worker_status test_log_status_of(
    struct test_log_run *run, const struct test_log_result *result)
{
    struct test_log_worker_status said = {.returned = true};
    struct note *note;

    test_log_status_update(run);
    if (!board || !result->note)
        return said;
    note = note_at(board, result->note - 1);
    said.returned = note->returned;
    said.checking = note->checking;
    note->reason[sizeof(note->reason) - 1] = '\0';
    if (__atomic_load_n(&note->failed, __ATOMIC_ACQUIRE) == 2)
        said.fault = note->reason;
    return said;
}

/* ---- A worker ---- */

/* Unmaps all but the page of the worker's own note: a test that writes where it
 * should not must not reach the notes of others. */
static void unmap_rest(struct board *of, size_t size)
{
    char *begin = (char *)of, *end = begin + size;
    char *page = begin + ((char *)mine - begin) / PAGE * PAGE;

    munmap(begin, (size_t)(page - begin));
    if (end > page + PAGE)
        munmap(page + PAGE, (size_t)(end - page - PAGE));
}

/* Takes the next note of the segment; false if there is none left. */
static bool take_note(struct board *of)
{
    uint32_t capacity = of->capacity;
    uint32_t number = __atomic_fetch_add(&of->taken, 1, __ATOMIC_RELAXED);

    if (number >= capacity) {
        shmdt(of);
        return false;
    }
    mine = note_at(of, number);
    unmap_rest(of, size_for(capacity));
    return true;
}

void test_log_status_note(void)
{
    const char *id = getenv(VARIABLE);
    const struct criterion_test *test = criterion_current_test;
    struct board *of = id && test ? shmat(atoi(id), NULL, 0) : (void *)-1;

    worker = getpid();
    /* Without a note the test runs all the same. */
    if (of != (void *)-1 && take_note(of)) {
        mine->pid = (uint32_t)worker;
        snprintf(mine->name, sizeof(mine->name), "%s/%s", test->category,
                 test->name);
        __atomic_store_n(&mine->ready, 1, __ATOMIC_RELEASE);
    }
    unsetenv(VARIABLE);
}

bool test_log_forked(void)
{
    return worker && getpid() != worker;
}

void test_log_status_returned(void)
{
    mine->returned = 1;
}

void test_log_status_checking(bool on)
{
    mine->checking = on;
}

void test_log_status_fail(const char *format, ...)
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
