/* inject_inject_test.c: the library that is injected into programs. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(inject_inject, .init = devices_init);

/* A program without testlog. */
static const char program[] =
    "#include <dlfcn.h>\n"
    "#include <stdio.h>\n"
    "int main(int count, char **args)\n"
    "{\n"
    "    void *handle = dlopen(args[1], RTLD_NOW);\n"
    "    int (*begin)(void) = (int (*)(void))(handle ?\n"
    "        dlsym(handle, \"InitializeInjection\") : 0);\n"
    "    void *cupti, (*launch)(unsigned);\n"
    "    if (!begin || begin() != 1)\n"
    "        return puts(dlerror()), 1;\n"
    "    if (count > 2) {\n"
    "        cupti = dlopen(args[2], RTLD_NOW | RTLD_NOLOAD);\n"
    "        launch = (void (*)(unsigned))dlsym(cupti,\n"
    "            \"trace_playback_launch\");\n"
    "        launch(2);\n"
    "    }\n"
    "    return 0;\n"
    "}\n";

static const char *built(void)
{
    char command[PATH_MAX * 3];

    test_save(test_path("any.c"), program, sizeof(program) - 1);
    snprintf(command, sizeof(command), "cc -o %s %s -ldl", test_path("any"),
             test_path("any.c"));
    cr_assert_eq(system(command), 0);
    return test_path("any");
}

static int run(const char *arguments)
{
    char command[PATH_MAX * 3];

    snprintf(command, sizeof(command),
             "cd %s && ASAN_OPTIONS=detect_leaks=0 ./any " BUILD_DIR
             "/libtestlog-gpu.so %s >out 2>&1",
             test_path("."), arguments);
    return system(command);
}

static size_t lines_of(const char *command)
{
    FILE *pipe = popen(command, "r");
    char line[PATH_MAX];
    size_t count = 0;

    cr_assert(pipe);
    while (fgets(line, sizeof(line), pipe))
        count++;
    pclose(pipe);
    return count;
}

Test(inject_inject, does_nothing_unless_asked)
{
    char command[PATH_MAX];

    built();
    cr_expect_eq(run(""), 0);
    cr_expect_str_eq(test_load(test_path("out"), NULL), "");
    cr_expect_eq(access(test_path("calls"), F_OK), -1, "CUPTI is not called");
    snprintf(command, sizeof(command), "ls %s", test_path("."));
    cr_expect_eq(lines_of(command), 3, "any.c, any and out");
}

static struct trace_reader *recorded(void)
{
    char command[PATH_MAX], path[PATH_MAX] = "";
    FILE *pipe;

    snprintf(command, sizeof(command), "ls %s/deep/run/process.*/recording",
             test_path("."));
    cr_assert_eq(lines_of(command), 1);
    pipe = popen(command, "r");
    cr_assert(fgets(path, sizeof(path), pipe));
    pclose(pipe);
    path[strcspn(path, "\n")] = '\0';
    return trace_reader_open(path);
}

Test(inject_inject, records_any_program)
{
    struct trace_reader *reader;
    const char *test;

    setenv("TESTLOG_RECORD", test_path("deep/run"), 1);
    built();
    cr_expect_eq(run(BUILD_DIR "/tests/playback.so"), 0);
    reader = recorded();
    cr_assert(reader);
    cr_expect(trace_reader_summary(reader).ended);
    test = trace_reader_meta(reader, "test");
    cr_expect_eq(strncmp(test, "process/", 8), 0, "%s", test);
    cr_expect(strstr(trace_reader_meta(reader, "program"), "any"));
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "launched()"), 2);
    cr_expect_str_eq(devices_meta(reader, "state"), "playback");
    cr_expect_str_eq(devices_meta(reader, "launched"), "2");
    trace_reader_close(reader);
}

Test(inject_inject, reports_a_folder_that_cannot_be_created)
{
    setenv("TESTLOG_RECORD", "/dev/null/run", 1);
    built();
    cr_expect_eq(run(""), 0, "the program failed");
    e2e_expect_has(test_load(test_path("out"), NULL),
                   "testlog: cannot record to /dev/null/run/process.");
}

Test(inject_inject, exports_only_its_entry_points)
{
    char command[PATH_MAX];

    snprintf(
        command, sizeof(command),
        "nm -D --defined-only %s/libtestlog-gpu.so | grep -v "
        "'InitializeInjection$\\|InitializeInjectionNvtx\\(2\\|Extension\\)$\\|"
        "trace_injection_retry$\\|clInitLayer$\\|clGetLayerInfo$\\|"
        "trace_opencl_loaded$\\| nvrtc\\| "
        "nvvm\\| __nvJitLink\\| nvJitLink'",
        BUILD_DIR);
    cr_expect_eq(lines_of(command), 0);
}

/* ---- The end ---- */

static void exit_early(void)
{
    devices_begin();
    devices_launch(2);
    exit(0);
}

/* A test may call exit. */
Test(inject_inject, flushes_at_exit)
{
    cr_expect_eq(test_child(exit_early), 0);
    cr_expect_eq(test_count(test_open(), TRACE_ENTRY_DEVICE, "launched()"), 2);
}
