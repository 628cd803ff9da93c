/* e2e_parallel_test.c: testlog run: programs side by side. */
#include "tests/support/e2e.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_parallel, .init = e2e_begin, .timeout = 300);

/* All scripts have these shell functions. `meet NAME` returns once two programs
 * have called it, so it hangs if they run one after the other. */
#define MEET                                                                   \
    "meet() { mkfifo $1.1 $1.2 2>/dev/null\n"                                  \
    "if mkdir $1 2>/dev/null; then echo >$1.1; read x <$1.2\n"                 \
    "else read x <$1.1; echo >$1.2; fi; }\n"

/* `running` prints the names of the programs that testlog runs now. `settle`
 * returns once testlog has started all that it will start before one of them
 * ends. `outlive NAME` returns once testlog has seen the end of that program.
 */
#define SETTLE                                                                 \
    "running() { cat $(grep -ls \"^PPid:[[:blank:]]*$PPID$\" "                 \
    "/proc/[0-9]*/status) 2>/dev/null | sed -n 's/^Name:[[:blank:]]*//p'; }\n" \
    "settle() { until grep -q '^State:.S' /proc/$PPID/status && "              \
    "! running | grep -qx testlog; do sleep 0.01; done; }\n"                   \
    "outlive() { while running | grep -qx $1; do sleep 0.01; done; }\n"

static void script(const char *name, const char *text)
{
    FILE *file = fopen(name, "we");

    cr_assert_not_null(file);
    fprintf(file, "#!/bin/sh\n" MEET SETTLE "%s\n", text);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(chmod(name, 0755), 0);
}

/* ---- Number of programs ---- */

Test(e2e_parallel, runs_programs_side_by_side)
{
    script("a", "meet here");
    script("b", "meet here");
    e2e_expect_closing(e2e_exits(0, TESTLOG " run ./a ./b -- -j2"),
                       "2 passed, 0 failed, 0 skipped");
}

Test(e2e_parallel, runs_programs_one_after_another_on_request)
{
    static const char *const flags[] = {"-j1", "--nocapture",
                                        "-j4 --nocapture"};

    script("a", "settle; running >>names");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        e2e_exits(0, "rm -f names; " TESTLOG " run ./a ./a ./a -- %s",
                  flags[i]);
        cr_expect_str_eq(e2e_read("names"), "a\na\na\n", "%s", flags[i]);
    }
}

Test(e2e_parallel, shares_the_jobs_among_programs)
{
    script("a", "meet here; env >variables.a");
    script("b", "meet here");
    e2e_exits(0, TESTLOG " run ./a ./b -- -j6");
    e2e_expect_has(e2e_read("variables.a"), "share=5:3 0 0");
}

Test(e2e_parallel, runs_two_tests_for_each_processor_by_default)
{
    static const char *const flags[] = {"", "-- -j0", "-- --nocapture"};
    char share[64];
    cpu_set_t set;

    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    snprintf(share, sizeof(share), "%d 0", 2 * CPU_COUNT(&set));
    script("a", "env >variables.a");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        e2e_exits(0, TESTLOG " run ./a %s", flags[i]);
        e2e_expect_has(e2e_read("variables.a"), share);
    }
    e2e_run("taskset -c %d " TESTLOG " run ./a", sched_getcpu());
    e2e_expect_has(e2e_read("variables.a"), "share=5:2 0 0");
    e2e_run(TESTLOG " run ./a -- -j3");
    e2e_expect_lacks(e2e_read("variables.a"), "share=");
}

Test(e2e_parallel, keeps_the_order_of_results)
{
    const cJSON *run, *test;

    e2e_link("small", E2E_TRACED, "small");
    script("slow", "meet here; outlive quick");
    script("quick", "meet here");
    e2e_exits(0, TESTLOG " run ./slow ./small ./quick -- -j3");
    run = e2e_run_json();
    test = cJSON_GetObjectItem(run, "tests")->child;
    cr_expect_str_eq(e2e_text(test, "program"), "slow");
    cr_expect_str_eq(e2e_text(test->next, "program"), "small");
    cr_expect_str_eq(e2e_text(test->prev, "program"), "quick");
}

/* ---- Output ---- */

Test(e2e_parallel, prints_each_program_whole)
{
    const char *out;

    script("a", "echo a1; echo a2 >&2; meet here; echo a3; echo a4 >&2");
    script("b", "echo b1; echo b2 >&2; meet here; echo b3; echo b4 >&2");
    out = e2e_run(TESTLOG " run ./a ./b -- -j2 2>&1")->out;
    e2e_expect_has(out, "a1\na2\na3\na4\n", "b1\nb2\nb3\nb4\n");
}

/* The tests are not annotated, so the program captures nothing. */
Test(e2e_parallel, prints_only_failures_of_programs_without_annotations)
{
    const char *whole = e2e_program("whole", E2E_PLAIN);
    const char *small = e2e_program("small", E2E_PLAIN);
    const struct e2e *run =
        e2e_exits(0,
                  TESTLOG " run %s %s -- -j2 --filter "
                          "'@(fixtures/of_suite_and_test|small/passes)'",
                  whole, small);

    e2e_expect_closing(run, "2 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(run->err, "Synthesis", "suite's init");
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/whole_test/output.txt"),
                   "suite's init\n");
    run = e2e_run(TESTLOG " run %s %s -- -j2 --show-output --filter "
                          "'@(fixtures/of_suite_and_test|small/passes)'",
                  whole, small);
    e2e_expect_has(run->out, "suite's init\n");
    run = e2e_run("SMALL=passes " TESTLOG " run %s %s -- -j2 --filter "
                  "'@(fixtures/of_suite_and_test|small/passes)'",
                  whole, small);
    e2e_expect_is(e2e_last(run->out), "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, "[FAIL] small::passes");
    e2e_expect_lacks(run->err, "Synthesis");
    e2e_expect_lacks(run->out, "suite's init");
}

Test(e2e_parallel, keeps_stdout_and_stderr_apart)
{
    const struct e2e *result;

    script("a", "echo a1; meet here; echo a2 >&2");
    script("b", "echo b1; meet here; echo b2 >&2");
    result = e2e_run(TESTLOG " run ./a ./b -- -j2");
    e2e_expect_has(result->out, "a1\n", "b1\n");
    e2e_expect_has(result->err, "a2\n", "b2\n");
    e2e_expect_lacks(result->out, "2\n0");
}

/* More than fits into memory or a pipe. */
Test(e2e_parallel, does_not_mix_long_output)
{
    const struct e2e *result;

    script("a", "meet here; yes aaaaaaaaaaaaaaa | head -n 200000; meet there");
    script("b", "meet here; yes bbbbbbbbbbbbbbb | head -n 200000; meet there; "
                "echo b >&2");
    script("c", "echo c");
    result = e2e_run(TESTLOG " run ./a ./b ./c -- -j3 >all; sort all | uniq -c "
                             "| grep -c ' 200000 '; grep '^[ab]' all | uniq | "
                             "wc -l");
    cr_expect_str_eq(result->out, "2\n2\n");
}

Test(e2e_parallel, prints_colors_only_if_the_run_does)
{
    static const char run[] = TESTLOG " run ./a ./b -- -j2 --filter "
                                      "'outcomes/@(passes|fails|is_)*' ";

    e2e_link("outcomes", E2E_TRACED, "a");
    e2e_link("outcomes", E2E_TRACED, "b");
    e2e_expect_has(e2e_run("%s --color=always 2>&1", run)->out, "\033[");
    e2e_expect_lacks(e2e_run("%s 2>&1", run)->out, "\033[");
}

/* ---- Serial programs ---- */

/* `a` fails if `b` or `alone`, which create the file "ran", run beside it. */
static void make_rivals(void)
{
    script("a", "before=$(ls ran); settle; ! running | grep -qx -e b -e alone "
                "&& [ \"$before\" = \"$(ls ran)\" ]");
    script("b", "touch ran");
}

Test(e2e_parallel, runs_serial_programs_alone)
{
    static const char *const ways[] = {"--serial b", "--serial=./b",
                                       "--serial 'no*' --serial '[bc]'"};

    make_rivals();
    script("none", "true");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++)
        e2e_exits(0,
                  "rm -f ran; " TESTLOG " run %s ./a ./b ./a ./none ./a -- -j4",
                  ways[i]);
}

Test(e2e_parallel, runs_a_program_alone_that_is_marked_serial)
{
    make_rivals();
    e2e_link("alone", E2E_TRACED, "alone");
    e2e_expect_closing(e2e_exits(0, TESTLOG " run ./a ./alone ./a -- -j4"),
                       "3 passed, 0 failed, 0 skipped");
}

Test(e2e_parallel, refuses_an_unknown_serial_program)
{
    static const char *const lines[][2] = {
        {"--serial c ./a", "testlog: --serial: no program matches c\n"},
        {"./a --serial", "testlog: run: --serial needs a value: --serial=GLOB"},
        {"./a --serial -- -j2", "testlog: run: --serial needs a value"},
        {"--serials ./a", "testlog: run: unknown flag --serials; did you "
                          "mean --serial?"},
        {"--serial a", "testlog: run: name a program;"},
    };

    script("a", "touch ran");
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        e2e_expect_has(e2e_exits(2, TESTLOG " run %s", lines[i][0])->err,
                       lines[i][1]);
    cr_expect_not(e2e_exists("ran"));
}

/* ---- Ends ---- */

Test(e2e_parallel, counts_a_program_that_dies_beside_another)
{
    const struct e2e *result;

    script("a", "meet here; echo last words; kill -SEGV $$");
    script("b", "meet here; outlive a");
    result = e2e_exits(1, TESTLOG " run ./a ./b -- -j2");
    e2e_expect_has(result->out, "last words\n");
    e2e_expect_is(e2e_last(result->out), "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, "\na: crashed: the program died of SIGSEGV\n");
}

Test(e2e_parallel, counts_a_program_that_cannot_run_beside_another)
{
    const struct e2e *result;

    script("a", "true");
    result = e2e_exits(1, "mkdir b c; " TESTLOG " run ./b ./a ./c ./a -- -j2");
    e2e_expect_closing(result, "2 passed, 2 failed, 0 skipped");
}

Test(e2e_parallel, starts_no_program_after_a_failure_with_fail_fast)
{
    const struct e2e *result;

    script("a", "meet here; exit 1");
    script("b", "meet here; outlive a");
    script("c", "touch ran");
    result = e2e_exits(1, TESTLOG " run ./a ./b ./c ./c -- -j2 --fail-fast");
    e2e_expect_has(result->err, "testlog: 2 programs did not run: --fail-fast");
    cr_expect_not(e2e_exists("ran"));
}

/* Runs two programs that never end. Once both have started, does `meanwhile`,
 * in which $$ is testlog. */
static const struct e2e *run_two(const char *meanwhile)
{
    script("ready", "test -e a.ready -a -e b.ready");
    script("a", "echo a waits; touch a.ready; exec sleep 60");
    script("b", "echo b waits; touch b.ready; exec sleep 60");
    script("c", "touch ran");
    return e2e_run("( (until ./ready; do sleep 0.1; done; %s) >/dev/null 2>&1 "
                   "& ); exec env --default-signal=INT " TESTLOG
                   " run ./a ./b ./c -- -j2",
                   meanwhile);
}

Test(e2e_parallel, ends_all_programs_on_an_interrupt)
{
    static const char *const signals[] = {"INT", "TERM"};
    static const int codes[] = {130, 143};

    for (size_t i = 0; i < 2; i++) {
        char kill[64];
        const struct e2e *result;

        snprintf(kill, sizeof(kill), "kill -%s $$", signals[i]);
        result = run_two(kill);
        e2e_expect_code(result, codes[i]);
        e2e_expect_has(result->out, "a waits\n", "b waits\n");
        e2e_expect_has(result->err, "testlog: 1 program did not run: "
                                    "interrupted\n");
        cr_expect(e2e_exists("testlog-runs/latest/junit.xml"));
        cr_expect_not(e2e_exists("ran"));
        e2e_run("rm -rf *.ready testlog-runs");
    }
}

Test(e2e_parallel, kills_all_programs_on_the_second_interrupt)
{
    script("a", "trap 'touch a.int' INT; echo $$ >a.pid; sleep 60 & wait; "
                "wait");
    script("b", "trap 'touch b.int' INT; echo $$ >b.pid; sleep 60 & wait; "
                "wait");
    e2e_exits(
        130,
        "( (until [ -s a.pid -a -s b.pid ]; do sleep 0.1; done; kill -INT $$; "
        "until [ -e a.int -a -e b.int ]; do sleep 0.1; done; kill -INT $$) "
        ">/dev/null 2>&1 & ); exec env --default-signal=INT " TESTLOG
        " run ./a ./b -- -j2");
    e2e_exits(0, "! grep 'State:.[RSDT]' /proc/$(cat a.pid)/status /proc/$(cat "
                 "b.pid)/status");
}

/* make ends the shell of a recipe, which does not end `testlog run`. */
Test(e2e_parallel, ends_with_the_make_that_started_it)
{
    script("a", "echo $PPID >run.pid; touch a.ready; exec sleep 3600");
    e2e_script("end", "make & until [ -e a.ready ]; do sleep 0.1; done\n"
                      "kill $!; wait $!\n"
                      "while kill -0 $(cat run.pid); do sleep 0.1; done");
    e2e_run("printf 'all:\\n\t@" TESTLOG " run ./a; true\\n' >makefile; ./end");
    e2e_expect_has(e2e_run("cat testlog-runs/latest/run.json")->out,
                   "\"interrupted\":\"SIGTERM\"");
}

/* Output is shown before the program ends if it answers a signal. */
Test(e2e_parallel, shows_answers_to_sigusr1_immediately)
{
    script("a", "trap 'echo here is $0' USR1; touch a.ready\n"
                "until [ -e over ]; do sleep 0.1; done");
    script("b", "trap 'echo here is $0' USR1; touch b.ready\n"
                "until [ -e over ]; do sleep 0.1; done");
    e2e_exits(
        0, "( (until [ -e a.ready -a -e b.ready ]; do sleep 0.1; done; kill "
           "-USR1 $$; until grep -q 'is ./a' out && grep -q 'is ./b' out; do "
           "sleep 0.1; done; touch over) >/dev/null 2>&1 & ); exec " TESTLOG
           " run ./a ./b -- -j2 >out");
}

/* ---- Reports and the status line ---- */

Test(e2e_parallel, prints_nothing_else_beside_a_report_on_stdout)
{
    const struct e2e *result;

    e2e_link("small", E2E_TRACED, "a");
    e2e_link("small", E2E_TRACED, "b");
    result = e2e_exits(0, TESTLOG " run ./a ./b -- -j2 --report=tap:-");
    e2e_expect_has(result->out, "1..32\n");
    cr_expect_eq(e2e_count(result->out, "\nok "), 32);
    cr_expect_eq(strncmp(result->out, "TAP version", 11), 0);
}

Test(e2e_parallel, reruns_only_failures)
{
    e2e_link("ci", E2E_TRACED, "a");
    e2e_link("small", E2E_TRACED, "b");
    script("c", "exit 1");
    e2e_run(TESTLOG " run ./a ./b ./c -- -j3");
    e2e_exits(1, TESTLOG " run ./a ./b ./c -- -j3 --failed");
    cr_expect_eq(e2e_results(e2e_run_json(), "small/passes"), 0);
    cr_expect_eq(e2e_results(e2e_run_json(), "c"), 1);
}

#define SHOWN "until grep -q 'programs.: a 0' terminal; do sleep 0.01; done"

Test(e2e_parallel, shows_a_status_line_of_all_programs)
{
    const struct e2e *result;

    script("a", "meet here; " SHOWN);
    script("b", "meet here; " SHOWN "; echo hello");
    result = e2e_run("command -v script >/dev/null || exit 77; env TERM=xterm "
                     "script -qec '" TESTLOG " run ./a ./b -- -j2' /dev/null "
                     ">terminal");
    if (result->code == 77)
        cr_skip_test("script(1) is not installed");
    e2e_expect_has(e2e_read("terminal"), "\033[K[0/0, 0/2 programs]: a 0.",
                   "\r\033[Khello\r\n");
}

/* ---- GNU make's jobserver ---- */

/* Makes programs "p1" to "p`count`", which note how many of them are
 * running. */
static void make_counters(int count)
{
    char name[16];

    for (int i = 1; i <= count; i++) {
        snprintf(name, sizeof(name), "p%d", i);
        script(name, "settle; running | grep -c ^p >>counts");
    }
}

static int most_at_once(void)
{
    const char *counts = e2e_read("counts");
    int most = 0;

    for (; *counts; counts = strchr(counts, '\n') + 1)
        if (atoi(counts) > most)
            most = atoi(counts);
    return most;
}

static void makefile(const char *recipe)
{
    FILE *file = fopen("makefile", "we");

    cr_assert_not_null(file);
    /* After the run, two targets meet, which takes two jobs. */
    fprintf(file,
            "all: one two\n"
            "one two: run; @./meets\n"
            "run:\n\t+@%s\n",
            recipe);
    cr_assert_eq(fclose(file), 0);
    script("meets", "meet after");
}

/* make waits until all writers of its pipe are gone, so programs must leave no
 * process behind. */
static const struct e2e *make(const char *flags)
{
    const struct e2e *result = e2e_run("make %s 2>&1", flags);

    /* make complains if it ends with fewer or more tokens than it had. */
    e2e_expect_lacks(result->out, "jobserver tokens");
    return result;
}

Test(e2e_parallel, takes_its_jobs_from_make)
{
    const struct e2e *result;

    make_counters(6);
    makefile(TESTLOG " run ./p1 ./p2 ./p3 ./p4 ./p5 ./p6 -- -j6");
    result = make("-j2");
    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "6 passed, 0 failed, 0 skipped\n");
    cr_expect_leq(most_at_once(), 2);
}

Test(e2e_parallel, uses_all_jobs_that_make_has)
{
    script("a", "meet here");
    script("b", "meet here");
    makefile(TESTLOG " run ./a ./b -- -j4");
    e2e_expect_code(make("-j2"), 0);
}

Test(e2e_parallel, returns_jobs_if_killed)
{
    script("a", "meet here; kill -KILL $PPID");
    script("b", "meet here; exec sleep 60");
    makefile("-" TESTLOG " run ./a ./b -- -j4");
    e2e_expect_code(make("-j2"), 0);
}

Test(e2e_parallel, returns_jobs_if_interrupted)
{
    script("a", "meet here; exec sleep 60");
    script("b",
           "trap '' TERM; meet here; while kill $PPID; do sleep 0.1; done");
    makefile("-" TESTLOG " run ./a ./b -- -j4");
    e2e_expect_code(make("-j2"), 0);
}

/* make closes the descriptors for recipes without "+"; their numbers may then
 * belong to other files. */
Test(e2e_parallel, uses_no_jobserver_without_its_pipes)
{
    static const char *const ways[] = {
        "--jobserver-auth=8,9' 8<&- 9>&-",
        "--jobserver-auth=8,9' 8<in 9>>out",
        "--jobserver-auth=8,9' 8<pipe1 9<>pipe2",
        "--jobserver-auth=fifo:in'",
        "--jobserver-auth=fifo:nowhere'",
        "--jobserver-auth=-2,-2'",
        "--jobserver-auth=x'",
        "-- NAME=--jobserver-auth=8,9' 8<>pipe1 9<>pipe1",
    };

    script("a", "meet here");
    script("b", "meet here");
    e2e_run("echo tokens >in; mkfifo pipe1 pipe2");
    for (size_t i = 0; i < sizeof(ways) / sizeof(*ways); i++) {
        const struct e2e *result =
            e2e_run("rm -rf here*; exec 7<>pipe1; timeout 200 env MAKEFLAGS=' "
                    "-j2 %s " TESTLOG " run ./a ./b -- -j2",
                    ways[i]);

        cr_expect_eq(result->code, 0, "%s: %d %s", ways[i], result->code,
                     result->err);
    }
    cr_expect_str_eq(e2e_read("in"), "tokens\n");
    cr_expect_str_eq(e2e_read("out"), "");
}

Test(e2e_parallel, uses_a_fifo_as_a_jobserver)
{
    const struct e2e *result;

    script("a", "meet here");
    script("b", "meet here");
    e2e_run("mkfifo jobs");
    result = e2e_exits(
        0, "exec 7<>jobs; printf + >&7; MAKEFLAGS='--jobserver-auth=fifo:jobs' "
           "timeout 200 " TESTLOG
           " run ./a ./b -- -j4 && timeout 60 head -c 1 <&7");
    e2e_expect_is(e2e_last(result->out), "+");
}
