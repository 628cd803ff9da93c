/* e2e_server_test.c: testlog capture, of programs that run. */
#include "tests/support/support.h"

#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define CAPTURE TESTLOG " capture "

E2E_FOLDER

TestSuite(e2e_server, .init = e2e_begin, .timeout = 300);

/* Runs a shell script beside the program, which has the pid $p and listens at
 * $s. */
static const struct e2e *beside_with(const char *variables, const char *part,
                                     const char *script)
{
    return e2e_run("export XDG_RUNTIME_DIR=$PWD/x; mkdir -m 700 x; "
                   "TRACE_SERVER=1 %s %s %s >p.out 2>p.err & p=$!; "
                   "s=x/testlog/$p.sock; "
                   "trap 'kill $p 2>/dev/null' EXIT; "
                   "until [ -S $s ] || ! kill -0 $p; do sleep 0.01; done\n%s",
                   variables, e2e_program("service", E2E_TRACED), part, script);
}

static const struct e2e *beside(const char *part, const char *script)
{
    return beside_with("", part, script);
}

static const char *log_of(const char *run)
{
    return e2e_read("%s/log.txt", run);
}

/* ---- What is captured ---- */

Test(e2e_server, records_a_running_program)
{
    const struct e2e *result =
        beside("serve", CAPTURE "--pid=$p --ms=200 >run && cat run && "
                                "ln -s $PWD/$(cat run)/tests/*/process.* t");

    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "testlog-runs/20");
    e2e_expect_has(result->err, "testlog: capturing process ",
                   " (service_test) for 200 ms\n");
    e2e_expect_has(log_of("t"), "INFO request{number=");
    e2e_expect_lacks(log_of("t"), "its detail");
    e2e_expect_has(e2e_read("t/trace.json"), "its detail");
    cr_expect(e2e_exists("testlog-runs/latest/report.html"));
    cr_expect(e2e_exists("testlog-runs/index.html"));
    e2e_expect_is(e2e_read("p.err"), "");
}

Test(e2e_server, records_what_the_filter_wants)
{
    const struct e2e *result =
        beside("serve", CAPTURE "--connect=$s --ms=300 -o one "
                                "--trace-filter=[request]=info,none=info; "
                                "cat one/tests/*/*/trace.json");

    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "one\n", "\"request\"");
    e2e_expect_lacks(result->out, "its detail");
    e2e_expect_has(result->err, "no call site of the program matches "
                                "none=info");
}

Test(e2e_server, records_levels_of_the_host)
{
    const struct e2e *result =
        beside("serve", CAPTURE "--pid=$p --ms=300 -o one "
                                "--trace-options=host_tracer_level=1; "
                                "cat one/tests/*/*/trace.json");

    e2e_expect_has(result->out, "\"request\"");
    e2e_expect_lacks(result->out, "its detail");
}

/* A span that began before is absent, one that goes on has no end. */
Test(e2e_server, leaves_out_spans_that_began_before)
{
    const struct e2e *result =
        beside("long", "sleep 0.1; " CAPTURE "--pid=$p --ms=300 -o one; "
                       "cat one/tests/*/*/trace.json");

    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "\"request\"");
    e2e_expect_lacks(result->out, "\"long\"");
}

Test(e2e_server, records_later_with_a_delay)
{
    const struct e2e *result =
        beside("serve", CAPTURE "--pid=$p --ms=300 --delay=300 -o one; " TESTLOG
                                " log one | grep -c 'request [0-9]*$'; " TESTLOG
                                " log one | grep -q 'request 0$'");

    e2e_expect_code(result, 1);
    cr_expect_gt(atoi(strchr(result->out, '\n') + 1), 3, "%s", result->out);
}

/* In a shorter time, a busy machine may not run the program at all. */
Test(e2e_server, captures_the_same_program_often)
{
    const struct e2e *result = beside(
        "serve", "for i in $(seq 30); do " CAPTURE
                 "--pid=$p --ms=300 -o r$i >/dev/null 2>&1 || echo failed $i; "
                 "grep -q request r$i/tests/*/*/trace.json || echo empty $i; "
                 "[ $i != 5 ] || ls /proc/$p/fd | wc -l; done; "
                 "ls /proc/$p/fd | wc -l");
    int first, last;

    e2e_expect_lacks(result->out, "failed", "empty");
    cr_assert_eq(sscanf(result->out, "%d %d", &first, &last), 2);
    cr_expect_eq(first, last, "%s", result->out);
}

Test(e2e_server, captures_threads_that_never_pause)
{
    const struct e2e *result = beside(
        "quick", "for i in $(seq 10); do " CAPTURE
                 "--pid=$p --ms=300 --trace-limit=8M -o r$i >/dev/null 2>&1 || "
                 "echo failed $i; done; kill -0 $p && echo alive; " TESTLOG
                 " stat r9 | grep -c request");

    e2e_expect_is(result->out, "alive\n1\n");
}

/* CUDA was initialized before the captures. Between them, no call of CUDA costs
 * time. */
Test(e2e_server, captures_a_gpu)
{
    const struct e2e *result = beside_with(
        "CUDA_INJECTION64_PATH=" BUILD_DIR "/libtestlog-gpu.so "
        "TRACE_CUPTI=" BUILD_DIR "/tests/playback.so PLAYBACK_CALLS=calls",
        "gpu",
        "for i in 1 2; do " CAPTURE "--pid=$p --ms=200 -o r$i; "
        "grep -c 'Enable 10$' calls; grep -c 'Disable 10$' calls; " TESTLOG
        " stat r$i --by=kernel --csv | tail -n 1 | grep -o '[^,]*$'; " TESTLOG
        " log r$i --filter=gpu=trace | grep -m 1 -o 'request:launch'; done");

    e2e_expect_is(result->out, "r1\n1\n1\nlaunched()\nrequest:launch\n"
                               "r2\n2\n2\nlaunched()\nrequest:launch\n");
    e2e_expect_is(e2e_read("p.err"), "");
}

/* ---- The program's side ---- */

#define THREADS "ls /proc/$p/task | wc -l"

Test(e2e_server, has_no_thread_until_somebody_connects)
{
    const struct e2e *result =
        beside("serve", THREADS
               "; (" CAPTURE "--pid=$p --ms=400 >/dev/null 2>&1; "
               "echo done >done) & "
               "until [ $(" THREADS ") = 2 ]; do sleep 0.01; done; " THREADS
               "; until [ -e done ]; do sleep 0.01; done; "
               "until [ $(" THREADS ") = 1 ]; do sleep 0.01; done; " THREADS);

    e2e_expect_is(result->out, "1\n2\n1\n");
}

/* A program that handles or ignores SIGURG has the thread. */
Test(e2e_server, waits_in_a_thread_if_the_signal_is_taken)
{
    const struct e2e *result = e2e_exits(
        0,
        "trap '' URG; export TRACE_SERVER=$PWD/s; %s serve & p=$!; trap 'kill "
        "$p' EXIT; until [ -S s ]; do sleep 0.01; done; until [ $(" THREADS
        ") = 2 ]; do sleep 0.01; done; " THREADS
        "; unset TRACE_SERVER; " CAPTURE "--connect=s --ms=300 -o one",
        e2e_program("service", E2E_TRACED));

    e2e_expect_is(result->out, "2\none\n");
}

Test(e2e_server, starts_and_stops_a_server_in_code)
{
    const struct e2e *result = e2e_exits(
        0,
        "%s asked >p.out & p=$!; trap 'kill $p' EXIT; until [ $(grep -c "
        "^start: p.out) = 2 ]; do sleep 0.01; done; cat p.out; stat -c %%a "
        "asked.sock; " CAPTURE "--connect=asked.sock --ms=300 -o one",
        e2e_program("service", E2E_TRACED));

    e2e_expect_is(result->out, "stop without start: -1\nstart: 0\nagain: -1\n"
                               "stop: 0\nsocket: -1\nstart: 0\n600\none\n");
}

Test(e2e_server, says_that_no_call_site_is_called)
{
    const struct e2e *result =
        beside("idle", CAPTURE "--pid=$p --ms=1200; echo $?; ls testlog-runs");

    e2e_expect_is(result->out, "1\n");
    e2e_expect_has(result->err, "has called no call site yet; waiting for one",
                   "called no call site in 1200 ms; nothing was recorded");
}

Test(e2e_server, keeps_what_a_program_recorded_that_ends)
{
    const struct e2e *result =
        beside("end", CAPTURE "--pid=$p --ms=60000 -o one; echo $?; "
                              "grep -c request one/tests/*/*/log.txt");

    e2e_expect_has(result->out, "one\n0\n");
    e2e_expect_has(result->err, " ended after ");
    cr_expect_gt(atoi(e2e_last(result->out)), 3, "%s", result->out);
}

Test(e2e_server, ends_when_the_client_is_killed)
{
    const struct e2e *result = beside(
        "serve", CAPTURE
        "--pid=$p --ms=60000 -o one 2>err & c=$!; "
        "until grep -q capturing err; do sleep 0.01; done; sleep 0.1; "
        "kill -KILL $c; "
        "until [ $(" THREADS ") = 1 ]; do sleep 0.01; done; " TESTLOG
        " log one | grep -c request; " CAPTURE "--pid=$p --ms=300 -o two");

    e2e_expect_code(result, 0);
    cr_expect_gt(atoi(result->out), 3, "%s", result->out);
    e2e_expect_is(e2e_last(result->out), "two");
}

Test(e2e_server, ends_early_with_an_interrupt)
{
    const struct e2e *result = beside(
        "serve", CAPTURE "--pid=$p --ms=60000 -o one 2>err & c=$!; "
                         "until grep -q capturing err; do sleep 0.01; done; "
                         "sleep 0.1; kill -INT $c; wait $c; echo $?; "
                         "grep -c request one/tests/*/*/log.txt");

    e2e_expect_has(result->out, "one\n0\n");
}

Test(e2e_server, refuses_a_second_client)
{
    const struct e2e *result =
        beside("serve", CAPTURE
               "--pid=$p --ms=5000 -o one 2>err & "
               "until grep -q capturing err; do sleep 0.01; done; " CAPTURE
               "--pid=$p --ms=300 -o two; echo $?; ls -d two; "
               "kill $!; wait $!");

    e2e_expect_has(result->out, "1\n");
    e2e_expect_has(result->err,
                   "cannot be captured: another client captures it");
    cr_expect(!e2e_exists("two"));
    cr_expect(e2e_exists("one/run.json"));
}

Test(e2e_server, refuses_a_program_that_is_recorded)
{
    const struct e2e *result =
        beside("record", CAPTURE "--pid=$p --ms=300; echo $?; ls testlog-runs");

    e2e_expect_has(result->out, "1\n");
    e2e_expect_has(result->err, "cannot be captured: it is recorded already");
}

/* A child that goes on neither answers nor removes the socket. */
Test(e2e_server, leaves_the_socket_to_the_process_that_made_it)
{
    const struct e2e *result =
        beside("fork", "until [ -s p.out ]; do sleep 0.01; done; " CAPTURE
                       "--pid=$p --ms=300 -o one && "
                       "ls one/tests/*/process.$p/recording | wc -l; "
                       "kill -KILL $p; wait $p; " CAPTURE
                       "--connect=$s --ms=300; echo $?; kill $(cat p.out)");

    e2e_expect_has(result->out, "one\n1\n2\n");
    e2e_expect_has(result->err, "no program listens there");
}

/* Captures with the flags, and waits until the program has begun to record. */
#define BEGIN(flags)                                                           \
    CAPTURE "--pid=$p --ms=60000 -o one " flags ">out 2>err & c=$!; "          \
            "until grep -q capturing err; do sleep 0.01; done; sleep 0.1; "

/* The rest of a recording is still there, or nothing. */
Test(e2e_server, survives_a_recording_that_others_truncate)
{
    static const char *const sizes[] = {"0", "20000", "120000"};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        char script[2048];
        const struct e2e *result;

        snprintf(
            script, sizeof(script),
            BEGIN("--trace-limit=8M") "truncate -s %s one/*/*/*/recording; "
                                      "sleep 0.1; kill -INT $c; wait $c; rm "
                                      "-rf one; " CAPTURE
                                      "--pid=$p --ms=300 -o two 2>&1 && rm -rf "
                                      "two; "
                                      "until [ $(" THREADS
                                      ") = 4 ]; do sleep 0.01; done; "
                                      "kill -0 $p && echo alive; rm -rf x",
            sizes[i]);
        result = beside("quick", script);
        e2e_expect_has(result->out, "two\n");
        e2e_expect_is(e2e_last(result->out), "alive");
    }
}

/* It has opened others with the numbers of the recording and the client. */
Test(e2e_server, leaves_files_that_took_its_descriptors)
{
    const struct e2e *result = beside(
        "replace",
        "echo precious >precious; " BEGIN(
            "") "touch go; while [ -e go ]; do sleep 0.01; done; sleep 0.1; "
                "kill -INT $c; wait $c; echo $?; "
                "until [ $(" THREADS ") = 1 ]; do sleep 0.01; done; "
                "cat precious; ls /proc/$p/fd | wc -l; " TESTLOG
                " log one | grep -c request >count; kill -0 $p && echo alive");

    e2e_expect_is(result->out, "0\nprecious\n64\nalive\n");
    cr_expect_gt(atoi(e2e_read("count")), 3);
}

Test(e2e_server, notices_an_end_that_a_child_outlives)
{
    const struct e2e *result = beside(
        "born",
        BEGIN("") "touch go; while [ -e go ]; do sleep 0.01; done; sleep 0.1; "
                  "kill -KILL $p; wait $c; echo $?; cat err");

    e2e_expect_has(result->out, "0\ntestlog: capturing", " ended after ");
}

/* Its messages wait for nobody who does not read them. */
Test(e2e_server, says_that_a_stopped_program_does_not_answer)
{
    const struct e2e *result = beside(
        "serve",
        BEGIN("") "kill -STOP $p; kill -INT $c; wait $c; echo $?; cat err; "
                  "kill -CONT $p; " TESTLOG " log one | grep -c request; "
                  "until [ $(" THREADS ") = 1 ]; do sleep 0.01; done; " CAPTURE
                  "--pid=$p --ms=300 -o two");

    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "does not answer; the run has what it recorded "
                                "so far\n");
    e2e_expect_is(e2e_last(result->out), "two");
}

/* Programs that a signal ended leave their sockets. */
Test(e2e_server, removes_sockets_of_programs_that_ended)
{
    const struct e2e *result =
        beside("serve", "kill -KILL $p; wait $p 2>/dev/null; ls $s; " CAPTURE
                        "; ls x/testlog");

    cr_expect_eq(e2e_count(result->out, "\n"), 1, "%s", result->out);
    e2e_expect_has(result->err, "none listens");
}

/* With a signal, and with a thread. */
Test(e2e_server, leaves_descriptors_to_a_program_that_closed_all)
{
    const char *program = e2e_program("service", E2E_TRACED);

    e2e_expect_is(e2e_run("TRACE_SERVER=$PWD/s %s close; ls s", program)->out,
                  "61\n-1\n");
    e2e_expect_is(
        e2e_run("trap '' URG; TRACE_SERVER=$PWD/s %s close; ls s", program)
            ->out,
        "61\n0\n");
}

Test(e2e_server, replaces_a_socket_that_was_left)
{
    const struct e2e *result = e2e_run(
        "export TRACE_SERVER=$PWD/s; for i in 1 2; do %s serve & p=$!; "
        "until " CAPTURE "--connect=s --ms=20 -o r$i 2>/dev/null; "
        "do sleep 0.02; done; kill -KILL $p; wait $p 2>/dev/null; done; ls s",
        e2e_program("service", E2E_TRACED));

    e2e_expect_is(result->out, "r1\nr2\ns\n");
}

/* Each value, and a part of the one line about it. */
Test(e2e_server, runs_on_with_a_server_that_cannot_be)
{
    static const char *const cases[][2] = {
        {"relative", "is neither 1 nor an absolute path"},
        {"2", "is neither 1 nor an absolute path"},
        {"/nowhere/at/all", "No such file or directory"},
        {"$PWD/file", "another program, or a file, is there"},
        {"/$(printf '%0107d' 0)", "a socket's path has at most 107 bytes"},
        {"1", "the folder for sockets is not this user's alone"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct e2e *result =
            e2e_exits(0,
                      "touch file; mkdir -p x/testlog; chmod 777 x/testlog; "
                      "XDG_RUNTIME_DIR=$PWD/x TRACE_SERVER=%s %s end",
                      cases[i][0], e2e_program("service", E2E_TRACED));

        e2e_expect_has(result->err, cases[i][1]);
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
    }
}

/* ---- Bad input ---- */

Test(e2e_server, refuses_bad_arguments)
{
    static const char *const cases[][2] = {
        {"", "name a program with --pid=N or --connect=SOCKET"},
        {"--pid=1 --connect=x", "--connect and --pid exclude each other"},
        {"--pid=x", "--pid=x is not a number from 1 to"},
        {"--pid=0", "--pid=0 is not a number from 1 to"},
        {"--pid=4194305", "there is no such process"},
        {"--pid=$$", "does not listen; start it with TRACE_SERVER=1"},
        {"--connect=nowhere", "--connect=nowhere: No such file"},
        {"--connect=file", "no program listens there"},
        {"--pid=1 --ms=0", "--ms=0 is not a number from 1 to"},
        {"--pid=1 --ms=1s", "--ms=1s is not a number"},
        {"--pid=1 --ms=-1", "--ms=-1 is not a number"},
        {"--pid=1 --ms=99999999999999999999", "is not a number"},
        {"--pid=1 --delay=x", "--delay=x is not a number from 0 to"},
        {"--pid=1 -o file", "file exists; name a new folder with -o"},
        {"--pid=1 --trace-options=x=1", "x"},
        {"--pid=1 --what", "what"},
        {"--pid=1 more", "what is \"more\"?"},
        {"--ms", "ms"},
    };

    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct e2e *result = e2e_exits(
            2, "touch file; XDG_RUNTIME_DIR=$PWD/x " CAPTURE "%s", cases[i][0]);

        e2e_expect_has(result->err, cases[i][1]);
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
        cr_expect(!e2e_exists("testlog-runs"), "%s", cases[i][0]);
    }
}

Test(e2e_server, names_the_programs_that_listen)
{
    const struct e2e *result = beside("serve", CAPTURE "; echo $? $p");
    int code, pid;
    char expected[64];

    cr_assert_eq(sscanf(result->out, "%d %d", &code, &pid), 2);
    cr_expect_eq(code, 2);
    snprintf(expected, sizeof(expected), "these listen: %d (service_test)",
             pid);
    e2e_expect_has(result->err, expected);
}

Test(e2e_server, leaves_no_run_on_a_full_disk)
{
    const struct e2e *result =
        beside("serve", CAPTURE "--pid=$p --ms=300 -o /proc/nowhere; echo $?");

    e2e_expect_is(result->out, "1\n");
    e2e_expect_has(result->err, "cannot make a run in /proc/nowhere");
}
