/* e2e_timers_test.c: samples that tests take of themselves, where the kernel
 * refuses them. */
#include "tests/support/e2e.h"
#include "tests/support/sampled.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_timers, .init = e2e_begin, .timeout = 300);

#define TESTLOG  "'" BUILD_DIR "/testlog'"
#define PROGRAMS "'" TESTS_DIR "/programs'"

static void need(const char *command)
{
    const struct e2e *run = e2e_run("%s", command);

    e2e_need("gcc");
    cr_assert_eq(run->code, 0, "%s", run->err);
}

static void build_no_perf(void)
{
    need("gcc -D_GNU_SOURCE -o no_perf " PROGRAMS "/no_perf.c");
}

/* Runs tests for which the kernel refuses samples. */
static const struct e2e *sample(const char *filter, const char *flags)
{
    const struct e2e *run;

    build_no_perf();
    run =
        e2e_run("SAMPLED_MS=500 TESTLOG_SAMPLE_LIBRARY='" BUILD_DIR
                "/libtestlog-sample.so' ./no_perf %s --filter='sampled/%s' %s",
                e2e_program("sampled", E2E_TRACED), filter, flags);
    e2e_expect_has(run->err, "testlog: the kernel refuses samples (Permission "
                             "denied), so that tests take them, 250 a second; "
                             "for better ones, set "
                             "kernel.perf_event_paranoid to 2 or less");
    return run;
}

Test(e2e_timers, show_where_time_goes)
{
    e2e_expect_code(sample("@(calls|starts_a_thread|forks)", "--sample"), 0);
    e2e_expect_share("sampled/calls", ";seventy;burn[ ;]", ";thirty;burn[ ;]",
                     70);
    e2e_expect_share("sampled/starts_a_thread", ";seventy;burn[ ;]",
                     "helper [0-9]*;.*;thirty;burn[ ;]", 70);
    e2e_expect_share("sampled/forks", ";seventy;burn[ ;]",
                     "of child [0-9]*;.*;thirty;burn[ ;]", 70);
    cr_expect_eq(e2e_sampled("sampled/calls", "helper|of child"), 0);
}

Test(e2e_timers, follow_other_programs)
{
    e2e_expect_code(sample("executes", "--sample=2000"), 0);
    cr_expect_gt(e2e_sampled("sampled/executes", "of child"), 10);
}

Test(e2e_timers, outlive_a_crash)
{
    e2e_expect_code(sample("crashes_later", "--sample"), 1);
    cr_expect_gt(e2e_sampled("sampled/crashes_later", ";seventy;burn[ ;]"),
                 100);
}

Test(e2e_timers, interrupt_no_system_call)
{
    e2e_expect_code(sample("waits", "--sample"), 0);
}

Test(e2e_timers, leave_the_environment_as_it_was)
{
    const struct e2e *run;

    build_no_perf();
    run = e2e_run("./no_perf " TESTLOG " record --sample=100 -- sh -c "
                  "'echo $LD_PRELOAD:$ASAN_OPTIONS'");
    e2e_expect_has(run->out,
                   "libtestlog-sample.so:", ":verify_asan_link_order=0\n");
    e2e_expect_has(run->err, " 100 a second; ");
}

/* Returns what the program timed prints, with samples in the latest run. */
static const char *record_timed(void)
{
    build_no_perf();
    need("gcc -g -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -o timed " PROGRAMS
         "/timed.c -ldl -lpthread");
    need("printf '%s\n' '#include <time.h>' 'volatile unsigned sink;"
         "void in_loaded(void)"
         "{ for (clock_t end = clock() + CLOCKS_PER_SEC / 5; clock() < end;)"
         "  for (unsigned i = 0; i < 100000; i++) sink += i; }' | "
         "gcc -g -O1 -fno-omit-frame-pointer -shared -fPIC -o loaded.so "
         "-x c -");
    return e2e_run("./no_perf " TESTLOG
                   " record --sample -- ./timed ./loaded.so")
        ->out;
}

Test(e2e_timers, follow_what_a_program_does)
{
    e2e_expect_is(record_timed(), "undisturbed\n");
    cr_expect_gt(e2e_sampled("", ";start_c11;in_c11;burn[ ;]"), 50);
    cr_expect_gt(e2e_sampled("", "in_loaded"), 50);
    /* The stacks of a handler and of a coroutine are not the thread's: their
     * frame pointers are not followed. */
    cr_expect_gt(e2e_sampled("", "burn[ ;]"), 250);
    cr_expect_gt(e2e_sampled("", ";while_blocked;burn[ ;]"), 100);
}

Test(e2e_timers, work_with_address_sanitizer)
{
    const struct e2e *run;

    build_no_perf();
    need("gcc -g -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -fsanitize=address "
         "-o timed " PROGRAMS "/timed.c -ldl -lpthread");
    run = e2e_exits(0, "ASAN_OPTIONS=detect_leaks=0 ./no_perf " TESTLOG
                       " record --sample -- ./timed");
    e2e_expect_is(run->out, "undisturbed\n");
    cr_expect_gt(e2e_sampled("", ";start_c11;in_c11;burn[ ;]"), 50);
}

/* Threads and processes shorter than the system's tick have their share. */
Test(e2e_timers, see_short_threads_and_processes)
{
    build_no_perf();
    need("printf '%s' '#include <pthread.h>\n#include <time.h>\n"
         "#include <sys/wait.h>\n#include <unistd.h>\n"
         "static void burn(void)"
         "{ struct timespec t; do clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); "
         "while (t.tv_nsec < 2000000 && !t.tv_sec); }"
         "static void *run(void *p) { burn(); return p; }"
         "int main(void) { for (int i = 0; i < 200; i++) {"
         "pthread_t t; pthread_create(&t, 0, run, 0); pthread_join(t, 0);"
         "if (!fork()) { burn(); _exit(0); } wait(0); } return 0; }' | "
         "gcc -O1 -fno-omit-frame-pointer -o short -x c - -lpthread");
    e2e_exits(0, "./no_perf " TESTLOG " record --sample -- ./short");
    /* 200 x 2 ms of threads, and as much of processes */
    cr_expect_gt(e2e_sampled("", ";run;"), 200);
    cr_expect_lt(e2e_sampled("", ";run;"), 800);
}

/* A process keeps its test even if its parent is gone, or is not sampled. */
Test(e2e_timers, follow_orphans)
{
    build_no_perf();
    need("gcc -g -D_GNU_SOURCE -O1 -fno-omit-frame-pointer -o timed " PROGRAMS
         "/timed.c -ldl -lpthread");
    e2e_run(
        "./no_perf " TESTLOG " record --sample -- "
        "sh -c '(./timed >out &); while ! test -s out; do sleep 0.1; done'");
    cr_expect_gt(e2e_sampled("", "in_c11;burn[ ;]"), 50);
}

Test(e2e_timers, refuse_a_path_that_LD_PRELOAD_would_cut)
{
    const struct e2e *run;

    build_no_perf();
    e2e_run("mkdir 'a b' && cp '" BUILD_DIR "/libtestlog-sample.so' 'a b'");
    run = e2e_exits(0,
                    "TESTLOG_SAMPLE_LIBRARY=\"$PWD/a b/libtestlog-sample.so\" "
                    "./no_perf %s --sample --filter='sampled/calls'",
                    e2e_program("sampled", E2E_TRACED));
    e2e_expect_has(run->err, "LD_PRELOAD ends a path at a blank or a colon");
}

Test(e2e_timers, need_their_library)
{
    const struct e2e *run;

    build_no_perf();
    run = e2e_exits(0,
                    "TESTLOG_SAMPLE_LIBRARY=$PWD/none.so ./no_perf %s --sample "
                    "--filter='sampled/calls'",
                    e2e_program("sampled", E2E_TRACED));
    e2e_expect_has(run->err,
                   "testlog: no samples: the kernel refuses them (Permission "
                   "denied): cannot find libtestlog-sample.so beside "
                   "testlog's libraries; set TESTLOG_SAMPLE_LIBRARY to its "
                   "path; or set kernel.perf_event_paranoid to 2 or less");
}
