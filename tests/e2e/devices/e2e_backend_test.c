/* e2e_backend_test.c: what a device back end gets from its rows in
 * trace/backends.h, and that run.json stays what it was. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

#define CASES TESTS_DIR "/cases/devices/"

E2E_FOLDER
TestSuite(e2e_backend, .init = e2e_begin, .timeout = 300);

/* ---- Old runs ---- */

/* What a version before the tables wrote, and what it made of it. */
Test(e2e_backend, merges_devices_of_old_runs_as_before)
{
    e2e_exits(
        0,
        "for run in cuda opencl zones mixed none; do mkdir $run; cp " CASES
        "$run.json $run/run.json; done; " BUILD_DIR
        "/testlog merge -o merged cuda opencl zones mixed none && sed -n "
        "'s/,\"gpu_summary.*//; s/},$/}/; /^\"\\(gpu\\|opencl\\|zones\\)\"/p; "
        "s/^{\"program\".*\\(\"gpu\":\"\\)/\\1/p' merged/run.json | sed "
        "'s/}$//' >found; sed 's/}$//' " CASES "merged.txt | diff - found");
}

Test(e2e_backend, keeps_which_processes_survived_a_test)
{
    const struct e2e *result = e2e_exits(
        0, "mkdir a b; cp " CASES
           "none.json b/run.json; sed 's/\"dropped\":0/&,\"survivors\":\"sleep "
           "(7)\"/' " CASES "cuda.json >a/run.json; " BUILD_DIR
           "/testlog merge -o merged a b; grep -c '\"survivors\":\"sleep "
           "(7)\"' a/run.json merged/run.json");

    cr_assert_not_null(strstr(result->out, "merged/run.json:"));
    cr_assert_null(strstr(result->out, "merged/run.json:0"));
}

/* ---- A stub ---- */

/* Copies the tables with a row for the stub in each. */
#define ROWS                                                                   \
    "sed 's/\"opencl_runtime\", \"opencl_sync\")/& "                           \
    "X(stub, stub, \"Stub\", 64, UINT32_C(3) << 30, \"lane\", "                \
    "\"stub_call\", \"stub_wait\")/; "                                         \
    "s/X(opencl, \"OPENCL_LAYERS\")/& X(stub, \"STUB_LAYERS\")/' " SOURCE_DIR  \
    "/trace/backends.h >backends.h"

/* Compiles all that the tables are in, and the stub. */
#define COMPILE                                                                \
    "for file in " CASES "stub/*.c $(cd " SOURCE_DIR " && "                    \
    "grep -lrE --include='*.c' 'TRACE_(BACKENDS|LOADERS|BACKEND_COUNT)\\b' "   \
    "trace log harness runners | sed 's|^|" SOURCE_DIR "/|'); do "             \
    "cc -w " SANITIZE_FLAGS " -D_GNU_SOURCE -DTRACE_BUILD "                    \
    "-include backends.h -I" SOURCE_DIR " -I" BUILD_DIR "/include "            \
    "-c $file || exit; done"

Test(e2e_backend, needs_a_folder_and_two_rows)
{
    const struct e2e *result = e2e_exits(
        0, ROWS " && " COMPILE " && cc " SANITIZE_FLAGS
                " -o try stub.o stub_loader.o try.o device_state.o "
                "backends.o " BUILD_DIR
                "/libtestlog.a -lpcre2-8 -lpthread -ldl -lm && ./try");

    e2e_expect_has(
        result->out, "Stub 1,\n\"gpu\":{\"state\":\"unused\",",
        ",\n\"stub\":{\"state\":\"not-loaded\",\"notice\":\"the stub is never "
        "loaded\",\"clock\":\"none\",\"launches\":3,\"launched\":0,");
    e2e_expect_has(result->err, "testlog: the stub is never loaded\n");
}
