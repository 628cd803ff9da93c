/* worker_status.c: which process runs which test, and what it reports.
 *
 * Criterion does not report which process runs a test. Each worker writes a
 * note to memory that it shares with the runner, and keeps the note mapped:
 * what it adds later cannot fail, and outlives the process.
 *
 * This is System V shared memory. A worker inherits no descriptor and may not
 * be allowed to read the runner's, and files in memory count against
 * RLIMIT_FSIZE. The segment is marked for removal immediately, so it goes away
 * with its last process.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "harness/criterion/watch/supervisor.h"
#include "harness/pending_output.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "jobs.h"
static struct test_log_status *status; /* NULL: there is none */
static char id_text[16];               /* of the segment */
static bool *assigned;  /* which notes have been assigned to a job */
static size_t seen;     /* all notes before this one are assigned to jobs */
static size_t expected; /* index of the job that probably comes next */

static struct test_log_status *make_status(size_t notes, int *id)
{
    void *memory;

    *id = shmget(IPC_PRIVATE, test_log_status_size(notes), IPC_CREAT | 0600);
    if (*id < 0)
        return NULL;
    memory = shmat(*id, NULL, 0);
    shmctl(*id, IPC_RMID, NULL); /* on Linux, others can still attach */
    return memory == (void *)-1 ? NULL : memory;
}

int test_log_status_open(size_t notes)
{
    int id;

    seen = expected = 0;
    assigned = calloc(notes, sizeof(*assigned));
    status = assigned ? make_status(notes, &id) : NULL;
    if (!status)
        return -1;
    status->capacity = (uint32_t)notes;
    snprintf(id_text, sizeof(id_text), "%d", id);
    return 0;
}

void test_log_status_close(void)
{
    if (status)
        shmdt(status);
    status = NULL;
    free(assigned);
    assigned = NULL;
    id_text[0] = '\0';
}

const char *test_log_status_id(void)
{
    return id_text[0] ? id_text : NULL;
}

bool test_log_status_is_open(void)
{
    return status;
}

static void assign_note(struct test_log_runner *runner, size_t number)
{
    const struct test_log_note *note = test_log_status_note(status, number);

    for (size_t i = 0; i < runner->job_count; i++) {
        size_t at = (expected + i) % runner->job_count;
        struct test_log_job *job = &runner->jobs[at];

        if (strncmp(test_log_name(job->result), note->name,
                    sizeof(note->name) - 1))
            continue;
        job->pid = note->pid;
        job->note = number + 1;
        job->starting = false;
        expected = at + 1;
        return;
    }
}

static bool is_ready(size_t number)
{
    return __atomic_load_n(&test_log_status_note(status, number)->ready,
                           __ATOMIC_ACQUIRE);
}

void test_log_status_update(struct test_log_runner *runner)
{
    size_t taken;

    if (!status)
        return;
    taken = __atomic_load_n(&status->taken, __ATOMIC_RELAXED);
    for (size_t i = seen; i < taken && i < status->capacity; i++) {
        if (!assigned[i] && is_ready(i)) {
            assign_note(runner, i);
            assigned[i] = true;
        }
        seen += i == seen && assigned[i];
    }
}

static struct test_log_note *note_of(const struct test_log_job *job)
{
    return status && job->note ? test_log_status_note(status, job->note - 1)
                               : NULL;
}

/* Several processes may send assertions at a time. */
uint32_t test_log_status_asserting(const struct test_log_job *job,
                                   unsigned line)
{
    struct test_log_note *note = note_of(job);

    return note && __atomic_load_n(&note->asserting, __ATOMIC_ACQUIRE) &&
                   note->line == line
               ? __atomic_exchange_n(&note->asserting, 0, __ATOMIC_ACQUIRE)
               : 0;
}

/* Whether a thread has ended, although its process has not. */
static bool is_gone(uint32_t pid, uint32_t thread)
{
    char path[64], text[512];
    const char *state;
    FILE *stream;
    size_t size;

    snprintf(path, sizeof(path), "/proc/%u/task/%u/stat", pid, thread);
    stream = fopen(path, "re");
    if (!stream)
        return errno == ENOENT;
    size = fread(text, 1, sizeof(text) - 1, stream);
    fclose(stream);
    text[size] = '\0';
    state = strrchr(text, ')'); /* after the name, which may contain anything */
    return state && (!strncmp(state, ") Z", 3) || !strncmp(state, ") X", 3));
}

bool test_log_status_abandoned(const struct test_log_job *job)
{
    return is_gone(job->pid, job->pid);
}

uint64_t test_log_status_closing_time(const struct test_log_job *job,
                                      uint64_t now)
{
    const uint64_t most = UINT64_C(10000000000);
    const struct test_log_note *note = note_of(job);
    uint64_t from =
        note ? __atomic_load_n(&note->closing, __ATOMIC_RELAXED) : 0;
    uint64_t until =
        from ? __atomic_load_n(&note->closed, __ATOMIC_RELAXED) : 0;
    uint64_t time = from ? (until ? until : now) - from : 0;

    return time < most ? time : most;
}

int test_log_status_sandboxed(const struct test_log_job *job)
{
    const struct test_log_note *note = note_of(job);
    uint32_t signal =
        note ? __atomic_load_n(&note->crashing, __ATOMIC_ACQUIRE) : 0;

    if (!signal || __atomic_load_n(&note->crashed, __ATOMIC_ACQUIRE))
        return 0;
    return is_gone(job->pid,
                   note->crashing_thread ? note->crashing_thread : job->pid)
               ? (int)signal
               : 0;
}

const struct test_log_crash *test_log_status_crash_of(
    const struct test_log_job *job)
{
    const struct test_log_note *note = note_of(job);

    return note && __atomic_load_n(&note->crashed, __ATOMIC_ACQUIRE) >=
                       TEST_LOG_CRASH_STOPPED
               ? &note->crash
               : NULL;
}

void test_log_status_mark_seen(const struct test_log_job *job)
{
    __atomic_store_n(&note_of(job)->crashed, TEST_LOG_CRASH_SEEN,
                     __ATOMIC_RELEASE);
}

void test_log_status_seen(const struct test_log_job *job)
{
    test_log_status_mark_seen(job);
    kill((pid_t)job->pid, SIGCONT);
}

void test_log_status_look_at_usage(struct test_log_job *job)
{
    test_log_usage_of((pid_t)job->pid, &job->used);
}

void test_log_status_take_devices(const struct test_log_job *job)
{
    struct test_log_note *note = note_of(job);

    if (note)
        trace_demand(&note->demand, TRACE_DEMAND_TIME);
}

void test_log_status_take_output(const struct test_log_run *run_of,
                                 const struct test_log_job *job, bool live)
{
    const struct test_log_note *note = note_of(job);
    char name[PATH_MAX];
    int file = -1;

    if (live)
        file = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    else if (job->result->folder &&
             snprintf(name, sizeof(name), "%s/output.txt",
                      job->result->folder) < PATH_MAX)
        file = test_log_open(run_of, name, O_WRONLY | O_APPEND);
    if (file < 0)
        return;
    if (note)
        test_log_take_pending((pid_t)job->pid, note->output, file);
    close(file);
}

struct test_log_usage test_log_status_usage(const struct test_log_job *job)
{
    const struct test_log_note *note = note_of(job);
    uint32_t used = note ? __atomic_load_n(&note->used, __ATOMIC_ACQUIRE) : 0;

    if (used == TEST_LOG_USAGE_ENDED)
        return test_log_usage_since(&note->after, &note->before);
    if (used == TEST_LOG_USAGE_BEGAN && job->used.peak)
        return test_log_usage_since(&job->used, &note->before);
    return (struct test_log_usage){.cpu = 0};
}

struct test_log_worker_status test_log_status_of(struct test_log_runner *runner,
                                                 const struct test_log_job *job)
{
    struct test_log_worker_status found = {.returned = true};
    struct test_log_note *note;

    test_log_status_update(runner);
    if (!status || !job->note)
        return found;
    note = test_log_status_note(status, job->note - 1);
    found.returned = note->returned;
    found.checking = note->checking;
    found.devices = note->devices;
    note->reason[sizeof(note->reason) - 1] = '\0';
    if (__atomic_load_n(&note->failed, __ATOMIC_ACQUIRE) == 2)
        found.fault = note->reason;
    note->known[sizeof(note->known) - 1] = '\0';
    if (__atomic_load_n(&note->is_known, __ATOMIC_ACQUIRE) == 2)
        found.known = note->known;
    return found;
}
