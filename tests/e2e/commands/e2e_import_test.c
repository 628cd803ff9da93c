/* e2e_import_test.c: runs of what perf and uftrace have recorded. */
#include "tests/support/e2e.h"
#include "tests/support/sampled.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_import, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog'"

static void need(const char *tool)
{
    if (e2e_run("command -v %s && command -v gcc", tool)->code)
        cr_skip_test("%s is not installed", tool);
}

static void build(const char *flags)
{
    const struct e2e *run =
        e2e_run("gcc -g -O1 -D_GNU_SOURCE -fno-omit-frame-pointer %s -o timed "
                "'" TESTS_DIR "/programs/timed.c' -ldl -lpthread",
                flags);

    cr_assert_eq(run->code, 0, "%s", run->err);
}

/* ---- perf ---- */

Test(e2e_import, has_the_samples_of_perf)
{
    need("perf");
    build("");
    if (e2e_run("perf record -q -e cpu-clock -F 1000 -g -o 'my data' ./timed")
            ->code)
        cr_skip_test("the kernel refuses samples");
    e2e_expect_has(e2e_exits(0, TESTLOG " import 'my data'")->err,
                   "run: testlog-runs/");
    cr_expect_gt(e2e_sampled("", ";start_c11;in_c11;burn[ ;]"), 50);
    cr_expect_gt(e2e_sampled("", "^timed "), 300);
    e2e_expect_has(e2e_run(TESTLOG " stat --by=line")->out, "timed.c:");
    e2e_expect_has(e2e_run(TESTLOG " list")->out, "testlog import");
    cr_expect(e2e_exists("testlog-runs/latest/report.html"));
}

/* Builds a program that is busy in a function of that name. */
static void build_busy(const char *name, const char *flags)
{
    const struct e2e *run = e2e_run(
        "printf 'volatile long x; __attribute__((noinline)) void %s(void) "
        "{ for (int i = 0; i < 300000000; i++) x += i; } "
        "int main(void) { %s(); }' >busy.c && gcc -g %s -o busy busy.c",
        name, name, flags);

    cr_assert_eq(run->code, 0, "%s", run->err);
}

static const char *const flags_of_builds[] = {"", "-Wl,--build-id=none"};

/* A name comes from the file that was recorded, or from none. */
Test(e2e_import, names_no_function_of_another_build)
{
    need("perf");
    for (size_t i = 0; i < 2; i++) {
        bool known = i == 0; /* perf does not tell which file it was */
        const struct e2e *run;

        build_busy("guilty", flags_of_builds[i]);
        if (e2e_run("perf record -q -e cpu-clock -F 1000 -g -o data ./busy")
                ->code)
            cr_skip_test("the kernel refuses samples");
        e2e_exits(0, TESTLOG " import data");
        run = e2e_run(TESTLOG " stat --by=function");
        e2e_expect_parts(run->out, known,
                         (const char *const[]){"guilty", NULL});
        build_busy("innocent", flags_of_builds[i]);
        run = e2e_run(TESTLOG " stat --by=function");
        e2e_expect_lacks(run->out, "innocent");
        e2e_expect_has(run->out, "busy+0x");
        e2e_expect_has(run->err, "busy have no names: it is not known to be "
                                 "the file that was recorded; was it built "
                                 "again?\n");
        e2e_exits(0, TESTLOG " import data");
        e2e_expect_lacks(e2e_run(TESTLOG " stat --by=function")->out,
                         "innocent");
    }
}

/* testlog's own samples know a file without a build-id by its time. */
Test(e2e_import, names_functions_of_a_file_without_build_id)
{
    const struct e2e *run;

    build_busy("guilty", flags_of_builds[1]);
    e2e_exits(0, TESTLOG " record --sample ./busy");
    run = e2e_run(TESTLOG " stat --by=function");
    if (strstr(run->err, "has no samples"))
        cr_skip_test("the kernel refuses samples");
    e2e_expect_has(run->out, "guilty");
    build_busy("innocent", flags_of_builds[1]);
    run = e2e_run(TESTLOG " stat --by=function");
    e2e_expect_lacks(run->out, "innocent");
    e2e_expect_has(run->out, "busy+0x");
}

Test(e2e_import, refuses_events_that_count_no_time)
{
    need("perf");
    if (e2e_run("perf record -q -e page-faults -c 1 -o perf.data ls")->code)
        cr_skip_test("the kernel refuses samples");
    e2e_expect_is(e2e_exits(1, TESTLOG " import perf.data")->err,
                  "testlog: import: perf.data: it counts page-faults, which is "
                  "no time; record it with perf record -e cpu-clock -g\n");
    cr_expect_not(e2e_exists("testlog-runs"));
}

/* Puts a tool into tools/ that prints a file. */
static void pretend(const char *tool, const char *text)
{
    FILE *file = fopen("printed", "w");

    cr_assert(file && fputs(text, file) >= 0 && !fclose(file));
    e2e_run(
        "mkdir -p tools && printf '#!/bin/sh\\ncat printed\\n' >tools/%s && "
        "chmod +x tools/%s && printf PERFILE2 >perf.data",
        tool, tool);
}

static const struct e2e *import(int code, const char *data)
{
    return e2e_exits(code, "PATH=$PWD/tools:$PATH " TESTLOG " import %s", data);
}

/* Names may look like what follows them. */
Test(e2e_import, reads_odd_names_of_perf)
{
    pretend("perf", "a 1/2 3.4: b  7/8  10.000000001:   1000000 cpu-clock:u: \n"
                    "\t 10 (/a (b)/c d)\n"
                    "\t 20 ([kernel.kallsyms])\n"
                    "\t 30 ([unknown])\n"
                    "\t ffffffff810 (/x)\n"
                    "\n"
                    "x 7/9  10.500000000: 2000000 cpu-clock:u: \n"
                    "\t 10 (/a (b)/c d)\n");
    import(0, "perf.data");
    e2e_expect_is(e2e_run(TESTLOG " export --folded=samples")->out,
                  "a 1/2 3.4: b 8;c d+0x10 1000000\n"
                  "x 9;c d+0x10 2000000\n");
}

/* Both count the same time. */
Test(e2e_import, reads_one_clock_of_two)
{
    pretend("perf", "b 7/8  10.000000001: 1000 task-clock: \n"
                    "\t 10 (/a)\n"
                    "\n"
                    "b 7/8  10.000000002: 1000 cpu-clock:u: \n"
                    "\t 10 (/a)\n");
    e2e_expect_has(import(0, "perf.data")->err,
                   "testlog: import: perf.data has two clocks; task-clock is "
                   "read, and cpu-clock is left out\n");
    e2e_expect_is(e2e_run(TESTLOG " export --folded=samples")->out,
                  "b 8;a+0x10 1000\n");
}

Test(e2e_import, asks_for_callers)
{
    pretend("perf", "b 7/8  10.000000001: 1000000 cpu-clock:u:  55e5 (/a)\n");
    e2e_expect_is(import(1, "perf.data")->err,
                  "testlog: import: perf.data: its samples have no callers; "
                  "record it with -g\n");
}

Test(e2e_import, survives_what_perf_never_prints)
{
    static const char words[][24] = {
        "a ",
        "7/7 ",
        "1.200000000: ",
        "1000 ",
        "cpu-clock: ",
        "\n",
        "\t",
        "10 (/a)",
        "PERF_RECORD_FORK(",
        "9:9):(7:7)",
        "\n\n",
        "PERF_RECORD_COMM",
        " exec: b:7/7",
        "::",
        ")",
        "(",
        "ffffffffffffffffff",
        "0/0 ",
    };

    for (int round = 0; round < 30; round++) {
        char text[4096] = "a 7/7 1.200000000: 1000 cpu-clock: \n\t10 (/a)\n\n";
        int size = (int)strlen(text);

        for (int i = 0; i < 150; i++)
            size += snprintf(text + size, sizeof(text) - (size_t)size, "%s",
                             words[test_random() % (sizeof(words) / 24)]);
        pretend("perf", text);
        import(0, "perf.data");
    }
}

/* ---- uftrace ---- */

Test(e2e_import, has_the_calls_of_uftrace)
{
    need("uftrace");
    build("-pg");
    e2e_exits(0, "uftrace record -d 'my data' ./timed");
    e2e_exits(0, TESTLOG " import 'my data'");
    e2e_expect_has(e2e_line(e2e_run(TESTLOG " stat")->out, "start_short"),
                   " 2000 ");
    e2e_expect_has(e2e_run(TESTLOG " export --folded")->out,
                   ";start_c11;in_c11;burn ");
}

/* As perf's and ours. The place is where the function calls mcount. */
Test(e2e_import, names_functions_of_uftrace_without_symbols_by_their_place)
{
    need("uftrace");
    e2e_run("printf 'int leaf(int i) { return i; }\nint main(int c, char **v) "
            "{ return leaf(c) - c; }\n' >bare.c; gcc -O0 -pg bare.c -o bare && "
            "strip bare; uftrace record --no-libcall -d data ./bare");
    e2e_exits(0, TESTLOG " import data");
    e2e_expect_is(
        e2e_run(TESTLOG " stat --csv | grep -c ',bare[+]0x1[0-9a-f]*$'")->out,
        "2\n");
}

Test(e2e_import, records_with_uftrace)
{
    const struct e2e *run;

    need("uftrace");
    build("-pg");
    run = e2e_run(TESTLOG " record --uftrace -- ./timed; echo $?");
    e2e_expect_is(run->out, "undisturbed\n0\n");
    e2e_expect_has(e2e_run(TESTLOG " stat")->out, "start_short");
    cr_expect_not(e2e_exists("testlog-runs/latest/tests/timed/uftrace.data"));
    run = e2e_run(TESTLOG " record --uftrace -- sh -c 'exit 7'");
    cr_expect_neq(run->code, 0);
}

/* It has a recording of its own, with lines. */
Test(e2e_import, records_an_annotated_program_with_uftrace)
{
    const struct e2e *run;

    need("uftrace");
    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers must be loaded first");
    run = e2e_run("gcc -pg -g -D_GNU_SOURCE -DTRACING -I '" BUILD_DIR
                  "/include' '" TESTS_DIR
                  "/programs/busy.c' -o busy -L '" BUILD_DIR
                  "' -ltestlog -lcriterion -lpcre2-8 -lpthread");
    cr_assert_eq(run->code, 0, "%s", run->err);
    run = e2e_exits(0, TESTLOG " record --uftrace -- ./busy 1 1 1000");
    e2e_expect_lacks(run->err, "File exists");
    e2e_expect_has(e2e_run("ls testlog-runs/latest/tests/busy")->out, "-calls");
    e2e_expect_has(e2e_run(TESTLOG " stat")->out, "work");
}

Test(e2e_import, follows_calls_that_uftrace_lost)
{
    e2e_run("mkdir uf.data && printf 'SESS timestamp=1.0 pid=7 sid=1 "
            "exename=\"/a/b c\"\\nTASK timestamp=1.0 tid=7 pid=7\\n' "
            ">uf.data/task.txt");
    pretend("uftrace", "reading 7.dat\n"
                       "1.000000010    7: [exit ] unknown(10) depth: 3\n"
                       "1.000000020    7: [entry] a(int)(10) depth: 2\n"
                       "1.000000030    7: [entry] b c(11) depth: 3\n"
                       "1.000000040    7: [lost ] 12 records\n"
                       "1.000000050    7: [exit ] a(int)(10) depth: 2\n"
                       "1.000000060    7: [entry] open(12) depth: 0\n"
                       "nonsense [entry] x(1) depth: 0\n"
                       "1.000000070    7: [entry] x depth: 99999999\n");
    import(0, "uf.data");
    e2e_expect_is(e2e_run(TESTLOG " export --folded")->out,
                  "b c 7;a(int) 10\n"
                  "b c 7;a(int);b c 20\n");
}

/* Damaged data may keep a tool busy for ever. */
Test(e2e_import, ends_the_tool_in_time)
{
    e2e_run("mkdir -p tools uf.data; printf 'TASK timestamp=1.0 tid=7 pid=7\n' "
            ">uf.data/task.txt; printf '#!/bin/sh\nulimit -t >limit; "
            "echo $$ >tool; sleep 100\n' >tools/uftrace; "
            "chmod +x tools/uftrace; PATH=$PWD/tools:$PATH " TESTLOG
            " import uf.data & until [ -s tool ]; do sleep 0.1; done; "
            "kill -9 $!; sleep 0.5; readlink /proc/$(cat tool)/exe >alive");
    e2e_expect_is(e2e_read("limit"), "60\n");
    e2e_expect_is(e2e_read("alive"), "");
}

/* ---- What is refused ---- */

Test(e2e_import, refuses_what_it_cannot_read)
{
    static const char *const refused[][2] = {
        {"", "name one file of perf record, or one folder of uftrace record"},
        {"a b", "name one file of perf record"},
        {"none", "cannot read none: No such file or directory"},
        {".", ". is neither a file of perf record nor a folder of uftrace "
              "record"},
        {"empty", "empty is neither"},
        {"fifo", "fifo is neither"},
        {"--what", "unknown flag --what"},
    };

    e2e_run("touch empty; mkfifo fifo");
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        e2e_expect_has(e2e_exits(2, TESTLOG " import %s", refused[i][0])->err,
                       refused[i][1]);
}

Test(e2e_import, names_the_package_of_a_missing_tool)
{
    const struct e2e *run;

    e2e_run("mkdir empty; printf PERFILE2 >perf.data");
    run = e2e_exits(2, "PATH=empty " TESTLOG " import perf.data");
    e2e_expect_is(run->err, "testlog: import: needs perf; install the package "
                            "linux-perf\n");
    run = e2e_exits(2, "PATH=empty " TESTLOG " record --uftrace -- /bin/true");
    e2e_expect_is(run->err, "testlog: record: needs uftrace; install the "
                            "package uftrace\n");
    cr_expect_not(e2e_exists("testlog-runs"));
}

/* Opening a FIFO would wait for somebody who writes to it. */
Test(e2e_import, waits_for_no_fifo)
{
    e2e_run("mkdir uf.data && mkfifo uf.data/task.txt");
    pretend("uftrace", "");
    e2e_expect_has(import(1, "uf.data")->err,
                   "uf.data: its task.txt cannot be read");
}

Test(e2e_import, leaves_no_run_of_damaged_data)
{
    need("perf");
    e2e_run("head -c 5000 /dev/zero | sed 's/^/PERFILE2/' >perf.data");
    e2e_expect_has(e2e_exits(1, TESTLOG " import perf.data")->err,
                   "testlog: import: perf.data: perf cannot read it");
    cr_expect_not(e2e_exists("testlog-runs"));
}
