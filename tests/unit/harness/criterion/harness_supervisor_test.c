/* harness_supervisor_test.c: timeouts and signals, with real processes. */
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "harness/machine/now.h"
#include "tests/support/support.h"

enum { JOBS = 2, PATIENCE = 12000 /* times 10 ms */ };

#define HOUR (UINT64_C(3600) * 1000000000)

static struct criterion_test_extra_data data[JOBS];
static struct criterion_test tests[JOBS];
static struct test_log_options options;
static struct test_log_run run;
static struct test_log_runner runner = {.options = &options, .run = &run};

static void begin(void)
{
    static const char *const names[] = {"one", "two"};

    test_folder();
    signal(SIGINT, SIG_DFL); /* a shell's background job ignores it */
    signal(SIGHUP, SIG_DFL); /* nohup ignores it */
    test_log_out = fopen(test_path("said"), "w");
    cr_assert_not_null(test_log_out);
    for (size_t i = 0; i < JOBS; i++) {
        struct test_log_result *result = test_log_run_add(&run);

        cr_assert_not_null(result);
        result->suite = strdup("s");
        result->test = strdup(names[i]);
    }
    runner.job_count = JOBS;
    cr_assert_eq(test_log_jobs_make(&runner), 0);
    for (size_t i = 0; i < JOBS; i++) {
        tests[i].data = &data[i];
        runner.jobs[i].test = &tests[i];
    }
}

static void end(void)
{
    fclose(test_log_out);
    test_log_jobs_free(&runner);
    test_log_run_free(&run);
}

TestSuite(harness_supervisor, .init = begin, .fini = end, .timeout = 60);

/* ---- Tests that run ---- */

static int ready[2];

static void wait_forever(void)
{
    close(ready[0]);
    cr_assert_eq(write(ready[1], "x", 1), 1);
    for (;;)
        pause();
}

static void ignore_the_timeout(void)
{
    signal(SIGPROF, SIG_IGN);
    wait_forever();
}

static void start_another(void)
{
    signal(SIGPROF, SIG_IGN);
    if (fork())
        for (;;)
            pause();
    wait_forever();
}

/* Runs `body` as a worker, which leads a group of its own and dies with us. It
 * holds the pipe `ready` open. */
static pid_t start(void (*body)(void))
{
    pid_t worker, parent = getpid();
    char byte;

    cr_assert_eq(pipe(ready), 0);
    worker = fork();
    cr_assert_geq(worker, 0);
    if (!worker) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent)
            _exit(1);
        setpgid(0, 0);
        signal(SIGPROF, SIG_DFL);
        body();
    }
    close(ready[1]);
    cr_assert_eq(read(ready[0], &byte, 1), 1);
    return worker;
}

/* Returns a job whose test is the process. */
static struct test_log_job *job_of(size_t number, pid_t pid, uint64_t limit)
{
    struct test_log_job *job = &runner.jobs[number];

    job->pid = (uint32_t)pid;
    job->limit = limit;
    job->begun = job->running = true;
    job->started = test_log_now();
    return job;
}

static void supervise(void)
{
    cr_assert_eq(test_log_status_open(JOBS), 0);
    test_log_supervisor_begin(&runner);
    cr_assert(test_log_supervisor_limits());
}

static bool reached(bool (*state)(void))
{
    bool is_there = false;

    for (size_t i = 0; !is_there && i < PATIENCE; i++) {
        test_log_supervisor_enter();
        is_there = state();
        test_log_supervisor_leave();
        usleep(10000);
    }
    return is_there;
}

/* The signal that ended a process, 0 if none did. */
static int signal_of(pid_t pid)
{
    int status = 0;

    for (size_t i = 0; i < PATIENCE; i++) {
        if (waitpid(pid, &status, WNOHANG) == pid)
            return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
        usleep(10000);
    }
    cr_assert(false, "process %ld goes on", (long)pid);
    return -1;
}

static bool has_said(const char *text)
{
    char *said = test_load(test_path("said"), NULL);
    bool found = strstr(said, text);

    return found;
}

/* Whether no process has the other end of a pipe, after a while. */
static bool is_closed(int fd)
{
    struct pollfd end = {.fd = fd};

    return poll(&end, 1, 10 * PATIENCE) == 1;
}

/* ---- Timeouts ---- */

Test(harness_supervisor, sends_sigprof_at_the_timeout)
{
    pid_t worker = start(wait_forever);
    struct test_log_job *job = job_of(0, worker, 1);

    supervise();
    cr_expect_eq(signal_of(worker), SIGPROF);
    test_log_supervisor_end();
    cr_expect_neq(job->late, 0);
}

Test(harness_supervisor, kills_a_test_that_ignores_its_timeout)
{
    pid_t worker = start(ignore_the_timeout);
    struct test_log_job *job = job_of(0, worker, 1);

    supervise();
    cr_expect_eq(signal_of(worker), SIGKILL);
    test_log_supervisor_end();
    cr_expect_neq(job->late, 0);
    cr_expect(job->killed);
    cr_expect_not(job->ended);
}

Test(harness_supervisor, ends_a_stopped_test)
{
    pid_t worker = start(wait_forever);
    struct test_log_job *job = job_of(0, worker, 1);
    int status;

    kill(worker, SIGSTOP);
    cr_assert_eq(waitpid(worker, &status, WUNTRACED), worker);
    cr_assert(WIFSTOPPED(status));
    supervise();
    cr_expect_eq(signal_of(worker), SIGPROF);
    test_log_supervisor_end();
    cr_expect_neq(job->late, 0);
    cr_expect_not(job->killed);
}

/* Only the process that the test has started keeps the pipe open. */
Test(harness_supervisor, kills_what_a_test_has_started)
{
    pid_t worker = start(start_another);

    job_of(0, worker, 1);
    supervise();
    cr_expect_eq(signal_of(worker), SIGKILL);
    cr_expect(is_closed(ready[0]));
    test_log_supervisor_end();
}

static bool first_is_late(void)
{
    return runner.jobs[0].late != 0;
}

/* Leaves the first test's timeout behind, after which the supervisor has seen
 * the second job. */
static void pass_a_timeout(void)
{
    job_of(0, start(wait_forever), 1);
    supervise();
    cr_assert(reached(first_is_late));
    test_log_supervisor_end();
}

Test(harness_supervisor, leaves_a_test_that_has_time)
{
    pid_t worker = start(wait_forever);
    struct test_log_job *job = job_of(1, worker, HOUR);

    pass_a_timeout();
    cr_expect_eq(job->late, 0);
    cr_expect_eq(kill(worker, 0), 0);
    cr_expect_eq(waitpid(worker, NULL, WNOHANG), 0);
}

Test(harness_supervisor, adds_the_time_of_a_stop_to_the_timeout)
{
    pid_t worker = start(wait_forever);
    struct test_log_job *job = job_of(1, worker, 1);

    job->paused = HOUR;
    pass_a_timeout();
    cr_expect_eq(job->late, 0);
    cr_expect_eq(waitpid(worker, NULL, WNOHANG), 0);
}

Test(harness_supervisor, leaves_a_test_without_a_timeout)
{
    pid_t worker = start(wait_forever);
    struct test_log_job *job = job_of(1, worker, 0);

    pass_a_timeout();
    cr_expect_eq(job->late, 0);
    cr_expect_eq(waitpid(worker, NULL, WNOHANG), 0);
}

Test(harness_supervisor, leaves_a_dead_test)
{
    pid_t worker = start(wait_forever);
    struct test_log_job *job = job_of(1, worker, 1);

    kill(worker, SIGKILL);
    cr_assert_eq(signal_of(worker), SIGKILL);
    pass_a_timeout();
    cr_expect_eq(job->late, 0);
    cr_expect_not(job->killed);
}

/* The system may have given a test's number to any process. */
Test(harness_supervisor, spares_processes_that_are_no_children)
{
    struct test_log_job *job;
    pid_t stranger = 0;
    int numbers[2];

    cr_assert_eq(pipe(numbers), 0);
    if (!fork()) {
        stranger = fork();
        if (!stranger)
            for (;;)
                pause();
        _exit(write(numbers[1], &stranger, sizeof(stranger)) < 0);
    }
    cr_assert_eq(read(numbers[0], &stranger, sizeof(stranger)),
                 sizeof(stranger));
    cr_assert_gt(wait(NULL), 0);
    job = job_of(1, stranger, 1);
    pass_a_timeout();
    cr_expect_eq(job->late, 0);
    cr_expect_eq(kill(stranger, SIGKILL), 0, "it is not there any more");
}

/* ---- Time that the runner was stopped ---- */

static bool first_has_paused(void)
{
    return runner.jobs[0].paused != 0;
}

/* This process has no other thread. */
static pid_t supervisors_thread(void)
{
    DIR *tasks = opendir("/proc/self/task");
    struct dirent *task;
    pid_t thread = 0;

    cr_assert_not_null(tasks);
    while ((task = readdir(tasks)))
        if (atoi(task->d_name) && atoi(task->d_name) != getpid())
            thread = atoi(task->d_name);
    closedir(tasks);
    return thread;
}

/* In a process of its own, which another one stops. */
static void be_stopped(void)
{
    pid_t stopped = getpid(), other;

    job_of(0, start(wait_forever), HOUR);
    runner.jobs[1].begun = true; /* no process belongs to it */
    supervise();
    test_until_waits(supervisors_thread());
    other = fork();
    if (!other) {
        kill(stopped, SIGSTOP);
        usleep(300000); /* three ticks */
        kill(stopped, SIGCONT);
        _exit(0);
    }
    if (!reached(first_has_paused))
        _exit(1);
    waitpid(other, NULL, 0);
    test_log_supervisor_end();
    _exit(runner.jobs[0].late || runner.jobs[1].paused ? 2 : 0);
}

Test(harness_supervisor, gives_running_tests_the_time_of_a_stop)
{
    cr_expect_eq(test_child(be_stopped), 0);
}

/* ---- Signals ---- */

static bool is_interrupted(void)
{
    return run.interrupted && runner.jobs[0].ended;
}

Test(harness_supervisor, interrupt_kills_running_tests_and_keeps_others)
{
    pid_t worker = start(ignore_the_timeout);
    struct test_log_job *job = job_of(0, worker, 0);

    supervise();
    kill(getpid(), SIGINT);
    cr_assert(reached(is_interrupted));
    test_log_supervisor_end();
    cr_expect_eq(signal_of(worker), SIGKILL);
    cr_expect_eq(run.interrupted, SIGINT);
    cr_expect_not(job->killed, "it was in time");
    cr_expect_not(job->left_out);
    cr_expect(runner.jobs[1].left_out);
    cr_expect(data[1].disabled);
    cr_expect_str_eq(runner.stopped, TEST_LOG_INTERRUPTED);
    cr_expect(has_said("testlog: interrupted by SIGINT: "));
}

static int told[2];

static void interrupt_twice(void)
{
    job_of(0, start(start_another), 0);
    supervise();
    kill(getpid(), SIGTERM);
    if (!reached(is_interrupted))
        _exit(1);
    kill(getpid(), SIGTERM);
    for (;;)
        pause();
}

Test(harness_supervisor, second_interrupt_quits_by_the_same_signal)
{
    int status;

    cr_assert_eq(pipe(told), 0);
    status = test_child(interrupt_twice);
    cr_assert(WIFSIGNALED(status), "%x", (unsigned)status);
    cr_expect_eq(WTERMSIG(status), SIGTERM);
    close(told[1]);
    cr_expect(is_closed(told[0]));
}

static bool has_counted(void)
{
    return has_said("tests done");
}

/* As a program of `testlog run`, which its parent interrupts again. */
static void be_interrupted_by_the_parent(void)
{
    run.role = TEST_LOG_ROLE_PART;
    job_of(0, start(wait_forever), 0);
    supervise();
    kill(getpid(), SIGINT);
    if (!reached(is_interrupted) || write(told[1], "x", 1) != 1 ||
        !reached(has_counted))
        _exit(1);
    test_log_supervisor_end();
    _exit(0);
}

/* SIGINT is delivered before SIGUSR1, which proves that the process goes on. */
Test(harness_supervisor, counts_a_repeated_interrupt_of_the_parent_once)
{
    pid_t program;
    char byte;
    int status;

    cr_assert_eq(pipe(told), 0);
    program = fork();
    if (!program)
        be_interrupted_by_the_parent();
    close(told[1]);
    cr_assert_eq(read(told[0], &byte, 1), 1);
    kill(program, SIGINT);
    kill(program, SIGUSR1);
    cr_assert_eq(waitpid(program, &status, 0), program);
    cr_expect_eq(status, 0, "%x", (unsigned)status);
}

Test(harness_supervisor, sigusr1_prints_what_runs)
{
    job_of(0, start(wait_forever), 0);
    runner.jobs[1].result->outcome = TEST_LOG_OUTCOME_PASSED;
    supervise();
    kill(getpid(), SIGUSR1);
    cr_assert(reached(has_counted));
    test_log_supervisor_end();
    cr_expect(has_said("testlog: s/one has been running for "));
    cr_expect_not(has_said("s/two"));
    cr_expect(has_said("testlog: 1 of 2 tests done, 1 running\n"));
    cr_expect_eq(run.interrupted, 0);
}

/* SIGHUP is delivered before SIGUSR1. */
Test(harness_supervisor, leaves_an_ignored_signal_ignored)
{
    struct sigaction action;

    signal(SIGHUP, SIG_IGN);
    supervise();
    kill(getpid(), SIGHUP);
    kill(getpid(), SIGUSR1);
    cr_assert(reached(has_counted));
    test_log_supervisor_end();
    cr_expect_eq(run.interrupted, 0);
    cr_assert_eq(sigaction(SIGHUP, NULL, &action), 0);
    cr_expect_eq(action.sa_handler, SIG_IGN);
}

/* ---- Masks ---- */

static bool is_blocked(int number)
{
    sigset_t mask;

    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number);
}

static void expect_own_mask(void)
{
    _exit(is_blocked(SIGTERM) || !is_blocked(SIGUSR2));
}

Test(harness_supervisor, workers_get_the_mask_of_the_runner)
{
    sigset_t other;

    sigemptyset(&other);
    sigaddset(&other, SIGUSR2);
    pthread_sigmask(SIG_BLOCK, &other, NULL);
    supervise();
    cr_expect(is_blocked(SIGTERM));
    cr_expect_eq(test_child(expect_own_mask), 0);
    test_log_supervisor_end();
    cr_expect_not(is_blocked(SIGTERM));
    cr_expect(is_blocked(SIGUSR2));
}

/* ---- Without a part of it ---- */

Test(harness_supervisor, leaves_timeouts_to_criterion_without_status)
{
    pid_t worker = start(wait_forever);

    job_of(0, worker, 1);
    test_log_supervisor_begin(&runner);
    cr_expect_not(test_log_supervisor_limits());
    kill(getpid(), SIGUSR1); /* it looks after tests then */
    cr_assert(reached(has_counted));
    test_log_supervisor_end();
    cr_expect_eq(runner.jobs[0].late, 0);
    cr_expect_eq(waitpid(worker, NULL, WNOHANG), 0);
}

/* Leaves room for the stack to grow, but none for another one. */
static void limit_memory(struct rlimit *before)
{
    char *text = test_load("/proc/self/statm", NULL);
    rlim_t used = strtoul(text, NULL, 10) * (rlim_t)sysconf(_SC_PAGESIZE);
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_AS, before), 0);
    limit = *before;
    limit.rlim_cur = used + 128 * 1024;
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
}

Test(harness_supervisor, takes_no_signal_without_a_thread)
{
    struct rlimit before;

    if (!test_can_fail_memory())
        cr_skip_test("the sanitizer needs memory");
    cr_assert_eq(test_log_status_open(JOBS), 0);
    limit_memory(&before);
    test_log_supervisor_begin(&runner);
    setrlimit(RLIMIT_AS, &before);
    cr_expect_not(test_log_supervisor_limits());
    cr_expect_not(is_blocked(SIGINT));
    test_log_supervisor_end();
}

/* ---- Forks ---- */

static void *fork_and_allocate(void *forked)
{
    pid_t child = fork();

    if (!child) {
        free(malloc(32768));
        _exit(0);
    }
    cr_expect_eq(waitpid(child, NULL, 0), child);
    __atomic_store_n((bool *)forked, true, __ATOMIC_SEQ_CST);
    return NULL;
}

/* Otherwise the child may find the sanitizer's allocator locked. */
Test(harness_supervisor, delays_forks_while_it_works_with_a_sanitizer)
{
    bool sanitized = !test_can_fail_memory(), forked = false;
    pthread_t thread;

    test_log_supervisor_begin(&runner);
    test_log_supervisor_enter();
    cr_assert_eq(pthread_create(&thread, NULL, fork_and_allocate, &forked), 0);
    if (sanitized) {
        usleep(100000);
        cr_expect_not(__atomic_load_n(&forked, __ATOMIC_SEQ_CST));
        test_log_supervisor_leave();
        pthread_join(thread, NULL);
    } else {
        pthread_join(thread, NULL);
        test_log_supervisor_leave();
    }
    cr_expect(forked);
    test_log_supervisor_end();
}
