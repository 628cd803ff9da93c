/* e2e_nvtx_test.c: tests of code that annotates with NVTX, through the headers
 * of a CUDA toolkit. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

/* Finds the folder of the headers, or skips the test. */
static const char *headers(void)
{
    static char path[PATH_MAX];
    const struct e2e *result =
        e2e_run("for d in \"$CUDA_HOME\" \"$(dirname \"$(dirname \"$(readlink "
                "-f \"$(command -v nvcc)\")\")\")\" /usr/local/cuda; do "
                "[ -f \"$d/include/nvtx3/nvToolsExt.h\" ] && "
                "printf %%s \"$d/include\" && exit; done");

    if (!result->out[0])
        cr_skip("no CUDA toolkit with NVTX 3");
    snprintf(path, sizeof(path), "%s", result->out);
    return path;
}

TestSuite(e2e_nvtx, .init = e2e_begin);

#define FLAGS                                                                  \
    "-D_GNU_SOURCE -DTRACING -I '" BUILD_DIR "/include' "                      \
    "$(pkg-config --cflags criterion 2>/dev/null) " SANITIZE_FLAGS
#define LIBS "'" BUILD_DIR "/libtestlog.a' -lcriterion -lpcre2-8 -lpthread -ldl"
#define GPU  "TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "

/* Builds what the tests run. */
static void build(void)
{
    const char *include = headers();

    e2e_exits(0,
              "${CC:-cc} -shared -fPIC -I %s " TESTS_DIR
              "/programs/nvtx_plugin.c -o libnvtx_plugin.so -ldl",
              include);
    e2e_exits(0,
              "${CC:-cc} " FLAGS " -I %s " TESTS_DIR
              "/programs/nvtx.c -o nvtx " LIBS,
              include);
}

static const char *shown(const char *before, const char *test)
{
    const struct e2e *result = e2e_exits(
        0, "%s " GPU "LOG_TIME=none ./nvtx --nocapture --filter nvtx/%s",
        before, test);

    return result->err;
}

static const cJSON *gpu(void)
{
    return cJSON_GetObjectItemCaseSensitive(e2e_run_json(), "gpu");
}

/* Returns a slice of the last run's trace. */
static const cJSON *slice(const char *name)
{
    const cJSON *events = cJSON_GetObjectItemCaseSensitive(
                    e2e_json("testlog-runs/latest/trace.json"), "traceEvents"),
                *event;

    cJSON_ArrayForEach(event, events)
    {
        if (!strcmp(e2e_text(event, "name"), name) &&
            !strcmp(e2e_text(event, "ph"), "X"))
            return event;
    }
    cr_assert_fail("no slice %s", name);
    return NULL;
}

static double argument(const cJSON *event, const char *name)
{
    return e2e_number(cJSON_GetObjectItemCaseSensitive(event, "args"), name);
}

/* ---- Receiving ---- */

Test(e2e_nvtx, shows_ranges_and_marks_in_lines)
{
    const char *lines;

    build();
    lines = shown("", "nests");
    e2e_expect_has(
        lines,
        "INFO ours:load:fetch{payload=7 category=\"io\" color=#00ff00}: "
        "programs::nvtx: inside\n",
        ": nvtx::lib: fetch payload=7 category=\"io\" color=#00ff00\n",
        "INFO ours: nvtx: done\n");
    e2e_expect_lacks(lines, "early");
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "receiving");
    lines = shown("LOG=info,nvtx=off", "nests");
    e2e_expect_lacks(lines, "done", "matched no");
}

Test(e2e_nvtx, shows_the_structs_of_payloads)
{
#define FIELDS "kind=\"r\" size=-7 share=0.5 mode=\"fast\" tag=\"12345678\""
    const char *lines;

    build();
    lines = shown("", "has_payloads");
    if (strstr(lines, "no test matched"))
        cr_skip_test("the toolkit's NVTX has no payloads");
    e2e_expect_has(lines, "INFO a.bin{" FIELDS "}: programs::nvtx: inside\n",
                   "INFO nvtx::lib: send " FIELDS "\n",
                   "INFO nvtx::lib: request kind=\"r\" size=-7\n",
                   "INFO nvtx::lib: mark\n");
}

Test(e2e_nvtx, draws_ranges)
{
    const cJSON *load, *fetch, *data;

    build();
    shown("", "nests");
    load = slice("load");
    fetch = slice("fetch");
    cr_expect_eq(e2e_number(load, "tid"), e2e_number(fetch, "tid"));
    cr_expect_leq(e2e_number(load, "ts"), e2e_number(fetch, "ts"));
    cr_expect_eq(argument(fetch, "payload"), 7);
    data = cJSON_GetObjectItemCaseSensitive(
        e2e_json("testlog-runs/latest/trace.json"), "otherData");
    cr_expect_not_null(data);
    data = e2e_json("testlog-runs/latest/tests/nvtx/nvtx.nests/trace.json");
    e2e_expect_is(e2e_text(cJSON_GetObjectItemCaseSensitive(data, "otherData"),
                           "gpu.nvtx_strays"),
                  "1");
}

Test(e2e_nvtx, draws_ranges_that_cross_threads_beside_them)
{
    const cJSON *request, *own;

    build();
    shown("", "crosses_threads");
    request = slice("request");
    own = slice("own");
    cr_expect_neq(e2e_number(request, "tid"), e2e_number(own, "tid"));
    e2e_expect_has(e2e_read("testlog-runs/latest/trace.json"), "\"the boss ");
}

Test(e2e_nvtx, records_children_and_libraries)
{
    build();
    e2e_expect_has(shown("", "forks"), "INFO parent: nvtx: in the child\n");
    e2e_expect_has(shown("", "loads_a_library"),
                   "INFO program:plugin: nvtx: within\n");
    e2e_expect_has(shown("", "loads_a_library_in_a_child"),
                   "INFO child's plugin: nvtx: within\n");
}

Test(e2e_nvtx, records_c_plus_plus)
{
    const char *include = headers();

    e2e_exits(0,
              "${CXX:-c++} -std=c++17 " FLAGS " -I %s " TESTS_DIR
              "/programs/nvtx_cxx.cpp -o nvtx_cxx " LIBS,
              include);
    e2e_expect_has(
        e2e_exits(0, GPU "LOG_TIME=none ./nvtx_cxx --nocapture")->err,
        "INFO step{payload=3 color=#010203}: programs::nvtx_cxx: inside\n",
        "step{payload=3 color=#010203}:step: nvtx::cxx.lib: mark\n");
    cr_expect_geq(e2e_number(slice("unique"), "dur"),
                  e2e_number(slice("step"), "dur"));
}

Test(e2e_nvtx, is_off_if_asked)
{
    build();
    e2e_expect_has(
        shown("TRACE_OPTIONS=gpu_enable_nvtx_tracking=0", "sees_the_library"),
        "path=none\n");
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "off");
    e2e_expect_has(
        shown("TRACE_OPTIONS=device_tracer_level=0", "sees_the_library"),
        "path=" BUILD_DIR "/libtestlog-gpu.so\n");
}

/* ---- Any program ---- */

Test(e2e_nvtx, records_python)
{
    const struct e2e *result;

    build();
    if (e2e_run("command -v python3")->code)
        cr_skip("no python3");
    result = e2e_exits(
        0, GPU BUILD_DIR
        "/testlog record -- python3 -c 'import ctypes; "
        "ctypes.CDLL(\"./libnvtx_plugin.so\").nvtx_plugin_annotate(b\"from "
        "Python\")'");
    e2e_expect_lacks(result->err, "nothing was recorded");
    slice("from Python");
    result = e2e_run("LOG_TIME=none " BUILD_DIR "/testlog log");
    e2e_expect_has(result->out, "INFO from Python: nvtx: within\n");
}

/* ---- Sending ---- */

static const char *tool(void)
{
    e2e_exits(0, "${CC:-cc} -shared -fPIC -I " SOURCE_DIR " " TESTS_DIR
                 "/programs/nvtx_tool.c -o nvtx_tool.so");
    return "NVTX_INJECTION64_PATH=./nvtx_tool.so NVTX_TOOL_LOG=calls ";
}

/* Returns the calls that the tool got from a test. */
static const char *calls(const char *variables, const char *test, int code)
{
    e2e_exits(code, "rm -f calls; %s %s " GPU "%s --filter sending/%s", tool(),
              variables, e2e_program("sending", E2E_TRACED), test);
    return e2e_exists("calls") ? e2e_read("calls") : "";
}

#define ATTACHED                                                               \
    "attached to version 3\n"                                                  \
    "domain testlog\n"                                                         \
    "category testlog 1 error\n"                                               \
    "category testlog 2 warn\n"                                                \
    "category testlog 3 info\n"                                                \
    "category testlog 4 debug\n"                                               \
    "category testlog 5 trace\n"
#define NESTED                                                                 \
    ATTACHED "push testlog outer category=3 payload=12\n"                      \
             "push testlog inner category=4 payload=2.5\n"                     \
             "mark testlog formatted 7 category=2\n"                           \
             "mark testlog structured category=1 payload=-3\n"                 \
             "pop testlog\n"                                                   \
             "mark testlog phase: number 2 category=3\n"                       \
             "pop testlog\n"

Test(e2e_nvtx, sends_spans_events_and_signposts)
{
    e2e_expect_is(calls("", "nests", 0), NESTED);
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "sending");
    e2e_expect_is(e2e_text(gpu(), "nvtx_tool"), "./nvtx_tool.so");
    e2e_expect_is(calls("NVTX_TOOL_NO_STRINGS=1", "nests", 0), NESTED);
    e2e_expect_is(calls("NOCAPTURE=1", "nests", 0), NESTED);
}

Test(e2e_nvtx, keeps_where_nvtx_goes_in_a_run_of_several_programs)
{
    e2e_exits(0,
              "%s " GPU BUILD_DIR "/testlog run %s -- --filter sending/nests",
              tool(), e2e_program("sending", E2E_TRACED));
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "sending");
    e2e_expect_is(e2e_text(gpu(), "nvtx_tool"), "./nvtx_tool.so");
    e2e_exits(0, GPU BUILD_DIR "/testlog run %s -- --filter sending/nests",
              e2e_program("sending", E2E_TRACED));
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "receiving");
}

Test(e2e_nvtx, reports_a_tool_that_cannot_be_loaded)
{
    const struct e2e *result =
        e2e_exits(0,
                  "NVTX_INJECTION64_PATH=./none.so " GPU
                  "%s --filter 'sending/@(nests|crosses_threads)'",
                  e2e_program("sending", E2E_TRACED));

    e2e_expect_is(e2e_text(gpu(), "nvtx"), "not-loaded");
    e2e_expect_is(e2e_text(gpu(), "nvtx_tool"), "./none.so");
    e2e_expect_has(e2e_text(gpu(), "nvtx_notice"),
                   "NVTX is not sent: ./none.so: ");
    cr_expect_eq(e2e_count(result->err, "testlog: NVTX is not sent: "), 1, "%s",
                 result->err);
}

Test(e2e_nvtx, records_the_same_while_it_sends)
{
    calls("", "nests", 0);
    e2e_expect_has(
        e2e_read(
            "testlog-runs/latest/tests/sending_test/sending.nests/log.txt"),
        "outer{size=12}", "formatted 7");
}

Test(e2e_nvtx, sends_spans_that_end_out_of_order)
{
    e2e_expect_is(calls("", "ends_out_of_order", 0),
                  ATTACHED "push testlog first category=3\n"
                           "push testlog second category=3\n"
                           "pop testlog\n"
                           "pop testlog\n"
                           "push testlog second category=3\n"
                           "mark testlog between category=3\n"
                           "pop testlog\n");
    e2e_expect_is(calls("", "crosses_threads", 0),
                  ATTACHED "push testlog shared category=3 payload=5\n"
                           "mark testlog elsewhere category=3\n"
                           "pop testlog\n");
    e2e_expect_is(calls("", "forks", 0),
                  ATTACHED "push testlog parent category=3\n"
                           "mark testlog in the child category=3\n"
                           "pop testlog\n");
    e2e_expect_has(calls("", "fails_in_a_span", 1),
                   "push testlog left category=3\n"
                   "mark testlog assertion failed: ");
    e2e_expect_has(e2e_last(e2e_read("calls")), "pop testlog");
}

/* As CUPTI does when it is told to collect. */
Test(e2e_nvtx, sends_to_a_tool_that_starts_late)
{
    e2e_expect_is(calls("NVTX_TOOL_LATE=1", "starts_the_tool", 0),
                  ATTACHED "push testlog after category=3\n"
                           "mark testlog event category=3\n"
                           "pop testlog\n");
}

/* It fills the tables once it collects, which needs a driver. */
Test(e2e_nvtx, attaches_nvidia_s_own_library)
{
    const struct e2e *found;
    char variable[PATH_MAX];

    found = e2e_run("for l in lib64 lib extras/CUPTI/lib64; do "
                    "ls '%s'/../$l/libcupti.so && exit; done",
                    headers());
    if (found->code)
        cr_skip("the CUDA toolkit has no libcupti");
    snprintf(variable, sizeof(variable), "NVTX_INJECTION64_PATH=%s",
             found->out);
    variable[strcspn(variable, "\n")] = '\0';
    e2e_expect_is(calls(variable, "nests", 0), "");
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "sending");
}

Test(e2e_nvtx, sends_nothing_without_a_tool)
{
    e2e_expect_is(calls("NVTX_INJECTION64_PATH=", "nests", 0), "");
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "receiving");
    e2e_expect_is(calls("NVTX_INJECTION64_PATH=/nowhere.so", "nests", 0), "");
    e2e_expect_is(
        calls("TRACE_OPTIONS=gpu_enable_nvtx_tracking=false", "nests", 0), "");
    e2e_expect_is(e2e_text(gpu(), "nvtx"), "off");
}

/* Our own library, under another name, would receive what it sends. */
Test(e2e_nvtx, sends_nothing_that_comes_back)
{
    e2e_run("cp " BUILD_DIR "/libtestlog-gpu.so copy.so");
    e2e_expect_is(calls("NVTX_INJECTION64_PATH=./copy.so", "nests", 0), "");
    cr_expect_eq(e2e_number(e2e_latest("sending/nests"), "dropped"), 0);
    e2e_expect_lacks(e2e_read("testlog-runs/latest/trace.json"), "\"nvtx");
    slice("inner");
}

Test(e2e_nvtx, says_that_nothing_was_recorded_beside_a_tool)
{
    const struct e2e *result =
        e2e_exits(0,
                  "%s " GPU "TESTLOG_GPU_ROOT=$PWD/none " BUILD_DIR
                  "/testlog record -- true",
                  tool());

    e2e_expect_has(
        result->err,
        "nothing was recorded: NVTX belongs to another tool "
        "(NVTX_INJECTION64_PATH=./nvtx_tool.so), and no process used CUDA");
}

/* The tool gets the program's own annotations, and we do not. */
Test(e2e_nvtx, leaves_annotations_to_the_tool)
{
    build();
    e2e_exits(
        0,
        "%s " GPU
        "LOG_TIME=none ./nvtx --nocapture --filter nvtx/nests >lines 2>&1",
        tool());
    e2e_expect_has(e2e_read("calls"), "push default load\n",
                   "push testlog ours category=3\n");
    e2e_expect_has(e2e_read("lines"), "INFO ours: programs::nvtx: inside\n");
    e2e_expect_lacks(e2e_read("lines"), "nvtx::lib");
}

/* Also in a second recording. */
Test(e2e_nvtx, sends_recordings_without_tests)
{
    e2e_exits(
        0, "printf '#include <testlog/trace.h>\\nint main(void) { for (int i = "
           "0; i < 2; i++) { trace_start(\"rec\", NULL); { trace_span(INFO, "
           "\"whole\", (i)); } trace_stop(); } }' >whole.c && ${CC:-cc} " FLAGS
           " whole.c -o whole " LIBS);

    e2e_exits(0, "%s ./whole", tool());
    e2e_expect_is(e2e_read("calls"),
                  ATTACHED "push testlog whole category=3 payload=0\n"
                           "pop testlog\n"
                           "push testlog whole category=3 payload=1\n"
                           "pop testlog\n");
}
