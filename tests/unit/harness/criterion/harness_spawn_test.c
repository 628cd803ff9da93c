/* harness_spawn_test.c: which process belongs to the test being started. */
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/machine/now.h"
#include "tests/support/support.h"

enum { JOBS = 4 };

static struct criterion_test_extra_data data[JOBS];
static struct criterion_test tests[JOBS];
static struct test_log_run run;
static struct test_log_runner runner = {.run = &run};
static struct test_log_job *jobs;

/* ---- A child that runs late ---- */

static int gate[2];
static bool delays;

static void wait_at_gate(void)
{
    char byte;

    while (delays && read(gate[0], &byte, 1) < 0)
        continue;
}

static void begin(void)
{
    pthread_atfork(NULL, NULL, wait_at_gate); /* before the one of ours */
    for (size_t i = 0; i < JOBS; i++)
        cr_assert_not_null(test_log_run_add(&run));
    runner.job_count = JOBS;
    cr_assert_eq(test_log_jobs_make(&runner), 0);
    jobs = runner.jobs;
    for (size_t i = 0; i < JOBS; i++) {
        tests[i].data = &data[i];
        jobs[i].test = &tests[i];
    }
    test_log_spawn_begin(&runner);
}

static void end(void)
{
    test_log_spawn_end();
    test_log_jobs_free(&runner);
    test_log_run_free(&run);
}

TestSuite(harness_spawn, .init = begin, .fini = end, .timeout = 60);

/* ---- Processes ---- */

/* Starts a process that dies with us, either under the name of BoxFort's
 * workers, which this test has, or under its own. */
static pid_t start(bool worker)
{
    const char *name = worker ? "boxfort-worker" : "sleep";
    pid_t pid, parent = getpid();
    int executed[2];
    char byte;

    cr_assert_eq(pipe2(executed, O_CLOEXEC), 0);
    pid = fork();
    cr_assert_geq(pid, 0);
    if (!pid) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() == parent)
            execlp("sleep", name, "1000", NULL);
        _exit(write(executed[1], "x", 1) != 1);
    }
    close(executed[1]);
    cr_assert_eq(read(executed[0], &byte, 1), 0, "sleep was not executed");
    close(executed[0]);
    return pid;
}

static bool is_stopped(pid_t pid)
{
    siginfo_t info = {0};

    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOWAIT), 0);
    return info.si_code == CLD_STOPPED;
}

/* ---- Whose process it is ---- */

/* A hook forks it, and Criterion forks again before it has run. */
Test(harness_spawn, a_late_child_is_no_worker)
{
    pid_t late, worker;

    cr_assert_eq(pipe(gate), 0);
    delays = true;
    late = fork();
    if (!late)
        _exit(0);
    delays = false;
    worker = start(true);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)worker);
    cr_assert_eq(write(gate[1], "x", 1), 1);
    cr_assert_eq(waitpid(late, NULL, 0), late);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)worker);
    kill(worker, SIGKILL);
}

Test(harness_spawn, gives_the_first_test_its_process)
{
    uint64_t before = test_log_now();
    pid_t pid = start(true);

    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)pid);
    cr_expect(jobs[0].starting);
    cr_expect(jobs[0].running);
    cr_expect_geq(jobs[0].started, before);
    cr_expect_leq(jobs[0].started, test_log_now());
    cr_expect_eq(jobs[1].pid, 0);
}

Test(harness_spawn, passes_over_tests_that_do_not_run)
{
    pid_t pid;

    jobs[0].result->outcome = TEST_LOG_OUTCOME_PASSED;
    data[1].disabled = true;
    jobs[2].begun = true;
    pid = start(true);
    test_log_spawn_update();
    for (size_t i = 0; i < 3; i++)
        cr_expect_eq(jobs[i].pid, 0, "%zu", i);
    cr_expect_eq(jobs[3].pid, (uint32_t)pid);
}

Test(harness_spawn, second_worker_belongs_to_the_second_test)
{
    pid_t first = start(true), second;

    test_log_spawn_update();
    second = start(true);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)first);
    cr_expect_eq(jobs[1].pid, (uint32_t)second);
}

Test(harness_spawn, process_of_a_hook_takes_no_turn)
{
    pid_t worker;

    start(false);
    test_log_spawn_update();
    worker = start(true);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)worker);
    cr_expect_eq(jobs[1].pid, 0);
}

Test(harness_spawn, no_test_gets_a_process_after_the_last)
{
    for (size_t i = 0; i < JOBS; i++)
        jobs[i].begun = true;
    start(true);
    test_log_spawn_update();
    for (size_t i = 0; i < JOBS; i++)
        cr_expect_eq(jobs[i].pid, 0, "%zu", i);
}

static void *start_from_a_thread(void *context)
{
    *(pid_t *)context = start(true);
    return NULL;
}

Test(harness_spawn, ignores_processes_that_other_threads_start)
{
    pid_t pid = 0;

    test_thread(start_from_a_thread, &pid);
    cr_assert_gt(pid, 0);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, 0);
    cr_expect_not(jobs[0].starting);
}

Test(harness_spawn, keeps_the_process_that_reported_itself)
{
    start(true);
    jobs[0].pid = 12345;
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, 12345);
    cr_expect_not(jobs[0].starting);
}

/* The run was stopped just after Criterion had forked the worker. */
Test(harness_spawn, stopped_test_with_a_worker_has_begun)
{
    pid_t pid = start(true);

    test_log_stop(&runner, "enough");
    cr_assert(jobs[0].left_out);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)pid);
    cr_expect(jobs[0].starting);
    cr_expect_not(jobs[0].left_out);
    cr_expect(jobs[1].left_out);
}

Test(harness_spawn, stopped_test_without_a_worker_has_not_begun)
{
    start(false);
    test_log_stop(&runner, "enough");
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, 0);
    cr_expect(jobs[0].left_out);
}

Test(harness_spawn, next_try_begins_with_the_first_test)
{
    pid_t pid;

    start(true);
    test_log_spawn_again();
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, 0, "its process belongs to the try before");
    pid = start(true);
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, (uint32_t)pid);
}

Test(harness_spawn, notes_nothing_after_its_end)
{
    test_log_spawn_end();
    start(true);
    test_log_spawn_again();
    test_log_spawn_update();
    cr_expect_eq(jobs[0].pid, 0);
}

/* ---- Before a process is killed ---- */

/* How BoxFort 0.1 shares its state with a worker. */
struct shared {
    size_t size;
    const void *function;
    size_t segment;
    pid_t pid;
    struct {
        int tag, flags;
        void *base;
        int handle;
    } arena;
    size_t name_size;
    int ok, suspend;
};

/* Makes that state of a process. */
static struct shared *share(pid_t pid)
{
    static char name[64];
    struct shared *shared;
    int fd;

    snprintf(name, sizeof(name), "/bxfi_%ld", (long)pid);
    fd = shm_open(name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    cr_assert_geq(fd, 0);
    cr_assert_eq(ftruncate(fd, sizeof(*shared) + 8), 0);
    shared =
        mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    cr_assert_neq(shared, MAP_FAILED);
    return shared;
}

static void forget(pid_t pid)
{
    char name[64];

    snprintf(name, sizeof(name), "/bxfi_%ld", (long)pid);
    shm_unlink(name);
}

Test(harness_spawn, worker_that_has_begun_can_be_killed)
{
    jobs[0].pid = (uint32_t)start(true);
    cr_expect(test_log_spawn_release(&jobs[0]));
}

/* Criterion's thread has not noticed that it has begun. */
Test(harness_spawn, worker_that_has_just_stopped_is_spared)
{
    pid_t pid = start(true);
    int status;

    jobs[0].pid = (uint32_t)pid;
    kill(pid, SIGSTOP);
    cr_assert(is_stopped(pid));
    cr_expect_not(test_log_spawn_release(&jobs[0]));
    cr_assert_eq(waitpid(pid, &status, WUNTRACED), pid);
    cr_expect(test_log_spawn_release(&jobs[0]), "it is known to have stopped");
}

Test(harness_spawn, worker_that_waits_for_a_debugger_can_be_killed)
{
    pid_t pid = start(true);

    criterion_options.debug = CR_DBG_IDLE;
    jobs[0].pid = (uint32_t)pid;
    jobs[0].started = test_log_now();
    kill(pid, SIGSTOP);
    cr_assert(is_stopped(pid));
    cr_expect(test_log_spawn_release(&jobs[0]));
    criterion_options.debug = CR_DBG_NONE;
}

Test(harness_spawn, process_that_has_just_started_is_spared)
{
    pid_t pid = start(false);
    siginfo_t info = {0};

    jobs[0].pid = (uint32_t)pid;
    jobs[0].started = test_log_now();
    cr_expect_not(test_log_spawn_release(&jobs[0]));
    waitid(P_PID, (id_t)pid, &info, WSTOPPED | WNOHANG | WNOWAIT);
    cr_expect_eq(info.si_pid, 0, "it was stopped");
}

Test(harness_spawn, process_that_is_no_worker_yet_is_stopped)
{
    pid_t pid = start(false);

    jobs[0].pid = (uint32_t)pid;
    cr_expect_not(test_log_spawn_release(&jobs[0]));
    cr_expect(is_stopped(pid));
}

/* This test plays Criterion's thread, which lets the worker continue. */
Test(harness_spawn, starting_worker_begins_before_it_can_be_killed)
{
    pid_t pid = start(true);
    struct shared *shared = share(pid);
    siginfo_t info;

    shared->pid = pid;
    shared->name_size = 8;
    shared->size = sizeof(*shared) + shared->name_size;
    jobs[0].pid = (uint32_t)pid;
    cr_expect_not(test_log_spawn_release(&jobs[0]));
    cr_expect_eq(shared->ok, 1);
    cr_expect(is_stopped(pid));
    cr_expect_not(test_log_spawn_release(&jobs[0]), "it has not continued");
    kill(pid, SIGCONT);
    cr_assert_eq(waitid(P_PID, (id_t)pid, &info, WCONTINUED | WNOWAIT), 0);
    cr_expect(test_log_spawn_release(&jobs[0]));
    forget(pid);
}

Test(harness_spawn, writes_nothing_to_state_of_another_layout)
{
    pid_t pid = start(true);
    struct shared *shared = share(pid);
    const struct shared before = {.size = 7, .pid = pid};

    *shared = before;
    jobs[0].pid = (uint32_t)pid;
    cr_expect(test_log_spawn_release(&jobs[0]));
    cr_expect_eq(shared->ok, 0);
    forget(pid);
}
