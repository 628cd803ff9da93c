/* e2e_stack_builds_test.c: the stacks of crashes and hangs in code that was
 * compiled and linked in many ways. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

#define STATIC " -L '" BUILD_DIR "' -ltestlog -lcriterion -lpcre2-8 -lpthread"
#define SHARED                                                                 \
    " -L '" BUILD_DIR "/shared' -Wl,-rpath,'" BUILD_DIR                        \
    "/shared' -ltestlog -lcriterion -lpcre2-8 -lpthread"

static void begin(void)
{
    const struct e2e *look;

    e2e_begin();
    if (e2e_sanitized())
        cr_skip_test("sanitizers handle SIGSEGV");
    if (!strstr(e2e_run("strings %s/testlog-stacks", BUILD_DIR)->out, "libdw"))
        cr_skip_test("testlog-stacks was built without libdw");
    look = e2e_run("sleep 9 & %s/testlog-stacks $!; kill $!", BUILD_DIR);
    if (strstr(look->out, "\nnote\t"))
        cr_skip_test("no permission to trace a process");
}

TestSuite(e2e_stack_builds, .init = begin, .timeout = 300);

/* Builds a program of tests/programs, NAME.c or NAME if that has an extension.
 */
static void build(const char *compiler, const char *flags, const char *name,
                  const char *libraries)
{
    const struct e2e *result = e2e_run(
        "%s -g -w -D_GNU_SOURCE -I '" BUILD_DIR "/include' %s '" TESTS_DIR
        "/programs/%s%s' %s",
        compiler, flags, name, strchr(name, '.') ? "" : ".c", libraries);

    cr_assert_eq(result->code, 0, "%s: %s", result->command, result->err);
}

static const struct e2e *run(const char *program, const char *flags)
{
    return e2e_run("rm -rf testlog-runs; TESTLOG_STACKS='" BUILD_DIR
                   "/testlog-stacks' ./%s -j4 --log-time=none %s",
                   program, flags);
}

/* ---- All crashes and hangs ---- */

/* Criterion alone runs the same program in `plain`. */
static void expect_criterions_verdicts(const char *plain)
{
    static const char normal[] = "sed -n 's/^\\(ok\\|not ok\\) [-0-9 "
                                 "]*\\([a-z_]*\\)[:/]*\\([a-z_]*\\).*/"
                                 "\\1 \\2 \\3/p' | sort";
    const char *ours =
        e2e_run("cat testlog-runs/latest/results.tap | %s", normal)->out;

    e2e_expect_is(ours, e2e_run("./%s -j4 --tap=plain.tap >/dev/null 2>&1; "
                                "cat plain.tap | %s",
                                plain, normal)
                            ->out);
    cr_expect(ours[0]);
}

/* Expects a place in tests/programs/SUITE.c in the block of each test of a
 * suite. The parent of a vfork cannot be unwound. */
static void expect_places(const struct e2e *all, const char *suite,
                          const char *outcome, size_t count)
{
    const cJSON *run = e2e_run_json(), *test;
    char place[64];
    size_t found = 0;

    snprintf(place, sizeof(place), "/%s.c:", suite);
    cJSON_ArrayForEach(test, cJSON_GetObjectItem(run, "tests"))
    {
        const char *name = e2e_text(test, "name");

        if (strncmp(name, suite, strlen(suite)) != 0)
            continue;
        found++;
        e2e_expect_is(e2e_text(test, "outcome"), outcome);
        if (!strstr(name, "parent_of_vfork"))
            e2e_expect_has(
                e2e_between(e2e_block(all, name), "stacks:\n", "trace: "),
                place);
    }
    cr_expect_eq(found, count, "%zu tests of %s", found, suite);
}

static void build_both(const char *compiler, const char *optimization,
                       const char *name)
{
    char flags[256];

    snprintf(flags, sizeof(flags), "%s -o plain", optimization);
    e2e_need(compiler);
    build(compiler, flags, name, " -lcriterion -lpthread");
    snprintf(flags, sizeof(flags), "%s -o traced -DTRACING", optimization);
    build(compiler, flags, name, STATIC);
}

/* Tests that call what is no code, and what called it. A tail call may hide the
 * line of a caller, but not its name. */
static const struct {
    const char *name, *caller, *below;
} calls[] = {
    {"null_function", "apply", "calling_null_function_impl"},
    {"null_member", "apply_member", "calling_null_member_impl"},
    {"absent_function", "call_absent", "calling_absent_function_impl"},
    {"null_function_last", "pass_on", "calling_null_function_last_impl"},
    {"null_function_in_the_test", "calling_null_function_in_the_test_impl", ""},
    {"null_function_in_a_thread", "apply", "call_there"},
    {"unmapped", "apply", "calling_unmapped_impl"},
    {"data", "apply", "calling_data_impl"},
};

static void expect_callers(const struct e2e *all, bool has_tail_calls)
{
    e2e_expect_has(e2e_block(all, "calling/null_function_last"),
                   has_tail_calls ? "it ended with this call (a tail "
                                  : "its call goes to this address");
    for (size_t i = 0; i < sizeof(calls) / sizeof(*calls); i++) {
        char name[128], caller[128], below[128];

        snprintf(name, sizeof(name), "calling/%s", calls[i].name);
        snprintf(caller, sizeof(caller), ": %s\n", calls[i].caller);
        snprintf(below, sizeof(below), "%s\n", calls[i].below);
        e2e_expect_has(e2e_between(e2e_block(all, name), "crashed:\n", "log:"),
                       "/crashing.c:", caller, below);
    }
}

static void expect_crashes(const char *compiler, const char *optimization)
{
    const struct e2e *all;

    build_both(compiler, optimization, "crashing");
    all = run("traced", "");
    expect_places(all, "crashing", "crashed", 14);
    expect_callers(all, !strcmp(optimization, "-O2"));
    expect_criterions_verdicts("plain");
}

/* Criterion alone does not end all of these. */
static void expect_hangs(const char *compiler, const char *optimization)
{
    build_both(compiler, optimization, "hanging");
    expect_places(run("traced", ""), "hanging", "timeout", 10);
}

static void expect_throws(const char *compiler, const char *flags)
{
    const struct e2e *all;
    const char *stack;

    build_both(compiler, flags, "throws.cpp");
    all = run("traced", "");
    stack = e2e_between(e2e_block(all, "thrown/below_the_test"),
                        ", which threw it:\n", "log:");
    e2e_expect_has(e2e_between(stack, "/throws.cpp:", "\n"), ": open_file");
    e2e_expect_has(stack, ": load", ": load_missing",
                   ": thrown_below_the_test_impl\n");
    e2e_expect_has(e2e_block(all, "thrown/in_a_thread"),
                   "std::terminate after std::runtime_error: open /nonex");
    expect_criterions_verdicts("plain");
}

#define COMPILERS(X)                                                           \
    X(gcc_without_optimization, "gcc", "-O0")                                  \
    X(gcc_with_optimization, "gcc", "-O2")                                     \
    X(clang_without_optimization, "clang", "-O0")                              \
    X(clang_with_optimization, "clang", "-O2")

#define X(name, compiler, optimization)                                        \
    Test(e2e_stack_builds, explain_crashes_of_##name)                          \
    {                                                                          \
        expect_crashes(compiler, optimization);                                \
    }                                                                          \
    Test(e2e_stack_builds, explain_hangs_of_##name)                            \
    {                                                                          \
        expect_hangs(compiler, optimization);                                  \
    }
COMPILERS(X)
#undef X

#define CXX(X)                                                                 \
    X(gxx_without_optimization, "g++", "-O0")                                  \
    X(gxx_with_optimization, "g++", "-O2")                                     \
    X(clangxx_without_optimization, "clang++", "-O0")                          \
    X(clangxx_with_optimization, "clang++", "-O2")                             \
    X(gxx_with_its_own_library, "g++", "-static-libstdc++ -static-libgcc")     \
    X(gxx_with_sanitizers, "g++", "-fsanitize=address,undefined")              \
    X(gxx_with_lto, "g++", "-O2 -flto")

#define X(name, compiler, flags)                                               \
    Test(e2e_stack_builds, explain_exceptions_of_##name)                       \
    {                                                                          \
        expect_throws(compiler, "-std=c++17 " flags);                          \
    }
CXX(X)
#undef X

Test(e2e_stack_builds, explain_exceptions_with_a_shared_library)
{
    e2e_need("g++");
    build("g++", "-std=c++17 -DTRACING -o traced", "throws.cpp", SHARED);
    e2e_expect_has(
        run("traced", "--filter thrown/below_the_test")->err,
        "uncaught std::runtime_error: open /nonexistent/x, in open_");
}

/* Only an assembler's directive refers to one of its functions. */
Test(e2e_stack_builds, explain_exceptions_if_the_library_has_lto)
{
    e2e_need("g++");
    e2e_run("cc -O2 -flto -D_GNU_SOURCE -fvisibility=hidden -I '" TESTS_DIR
            "/..' -I '" BUILD_DIR "/include' -c '" TESTS_DIR
            "/../harness/worker/exceptions.c'");
    build("g++", "-std=c++17 -O2 -flto -DTRACING -o traced exceptions.o",
          "throws.cpp", STATIC);
    e2e_expect_has(
        run("traced", "--filter thrown/below_the_test")->err,
        "uncaught std::runtime_error: open /nonexistent/x, in open_");
}

/* The program knows nothing of testlog. */
Test(e2e_stack_builds, explain_exceptions_with_a_preloaded_library)
{
    e2e_need("g++");
    build("g++", "-std=c++17 -o plain", "throws.cpp", " -lcriterion -lpthread");
    e2e_run("mv plain plain_program");
    e2e_expect_has(
        e2e_run("TESTLOG_STACKS='" BUILD_DIR "/testlog-stacks' "
                "LD_PRELOAD='" BUILD_DIR "/shared/libtestlog.so.0' "
                "TEST_LOG_ALL=1 ./plain_program --filter thrown/below*")
            ->err,
        "uncaught std::runtime_error: open /nonexistent/x, in open_file");
}

/* Without a handler in the test, it ends in std::terminate, which a test may
 * expect. */
Test(e2e_stack_builds, explain_exceptions_in_tests_written_in_c)
{
    const struct e2e *all;

    e2e_need("g++");
    e2e_run("cat >call.c <<'END'\n"
            "#include <signal.h>\n"
            "#include <testlog/test_log.h>\n"
            "void work(void);\n"
            "TEST_LOG(call, throws) { work(); }\n"
            "TEST_LOG(call, may_throw, .signal = SIGABRT) { work(); }\n"
            "END\n"
            "cat >work.cpp <<'END'\n"
            "#include <stdexcept>\n"
            "extern \"C\" void work()\n"
            "{\n"
            "    throw std::range_error(\"far\");\n"
            "}\n"
            "END\n");
    all = e2e_run(
        "cc -g -fexceptions -DTRACING -I '" BUILD_DIR
        "/include' -c call.c && g++ -g -o traced call.o work.cpp" STATIC);
    cr_assert_eq(all->code, 0, "%s", all->err);
    all = run("traced", "");
    e2e_expect_has(all->err, "call/throws: crashed: uncaught std::range_error: "
                             "far, in work (work.cpp:4)");
    e2e_expect_is(e2e_last(all->out), "1 passed, 1 failed, 0 skipped");
}

/* ---- One crash ---- */

/* Expects the stack of a crash in a thread, with these texts. */
static void expect_stack(const char *program, const char *top,
                         const char *bottom)
{
    const struct e2e *one = run(program, "--filter 'crashing/null_pointer'");
    const char *stack = e2e_between(one->err, ", which crashed:\n", "log:");

    e2e_expect_has(stack, top, bottom);
    e2e_expect_code(one, 1);
}

/* X(name, flags, libraries) */
#define WAYS(X)                                                                \
    X(with_a_shared_library, "-O2", SHARED)                                    \
    X(at_a_fixed_address, "-O2 -no-pie -fno-pie", STATIC)                      \
    X(without_frame_pointers, "-O2 -fomit-frame-pointer", STATIC)              \
    X(with_frame_pointers, "-O2 -fno-omit-frame-pointer", STATIC)              \
    X(with_old_debug_information, "-O2 -gdwarf-4", STATIC)                     \
    X(with_compressed_debug_information, "-O2 -gz", STATIC)                    \
    X(with_lto, "-O2 -flto", STATIC)                                           \
    X(with_sections, "-O2 -ffunction-sections -Wl,--gc-sections", STATIC)

#define TRACED "-DTRACING -o traced "

#define X(name, flags, libraries)                                              \
    Test(e2e_stack_builds, unwind_##name)                                      \
    {                                                                          \
        build("cc", TRACED flags, "crashing", libraries);                      \
        expect_stack("traced", "/crashing.c:22: value_of\n",                   \
                     ": crashing_null_pointer_impl\n");                        \
    }
WAYS(X)
#undef X

Test(e2e_stack_builds, name_modules_of_stripped_programs)
{
    build("cc", TRACED "-O2 -s", "crashing", STATIC);
    expect_stack("traced", " in traced + 0x", " in traced + 0x");
}

Test(e2e_stack_builds, name_functions_without_debug_information)
{
    build("cc", TRACED "-O2 -Wl,--strip-debug", "crashing", STATIC);
    expect_stack("traced", "    value_of in traced + 0x",
                 "    crashing_null_pointer_impl in traced + 0x");
}

Test(e2e_stack_builds, demangle_names_of_cxx)
{
    e2e_need("g++");
    build("g++", TRACED "-O0 -x c++ -DCXX", "loading_crash", STATIC);
    expect_stack("traced", ": net::list<int>::sum(int const volatile*)\n",
                 "loading_crash.c:");
}

Test(e2e_stack_builds, unwind_code_that_was_loaded)
{
    build("cc", "-shared -fPIC -O2 -DLOADED -o sum.so", "loading_crash", "");
    build("cc", TRACED "-O2", "loading_crash", STATIC);
    expect_stack("traced", "loading_crash.c:", ": sum\n");
}

/* ---- Other surroundings ---- */

/* Runs a crash in a PID namespace of its own. */
static const struct e2e *crash_in_namespace(const char *command)
{
    const struct e2e *inside;

    build("cc", TRACED "-O0", "crashing", STATIC);
    inside = e2e_run("TESTLOG_STACKS='" BUILD_DIR "/testlog-stacks' unshare "
                     "--pid --fork %s",
                     command);
    if (strstr(inside->err, "unshare failed"))
        cr_skip_test("no permission to make a PID namespace");
    return inside;
}

Test(e2e_stack_builds, unwind_in_a_pid_namespace)
{
    e2e_expect_has(
        crash_in_namespace("--mount-proc ./traced --filter 'crashing/thread'")
            ->err,
        ": crash\n");
}

/* Its numbers are those of other processes. Criterion's socket is named by its
 * pid, which must not be 1 here, too. */
Test(e2e_stack_builds, read_nothing_of_the_proc_of_another_pid_namespace)
{
    const struct e2e *inside =
        crash_in_namespace("sh -c '/bin/true; /bin/true; ./traced --filter "
                           "crashing/thread; exit'");

    e2e_expect_has(inside->err,
                   "no stacks, because /proc is that of another PID namespace",
                   "SIGSEGV at 0");
    e2e_expect_lacks(inside->err, "unmapped");
}
