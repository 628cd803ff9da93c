/* e2e_link_test.c: tests linked and loaded in many ways, and annotated code
 * that is loaded and unloaded during a test. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_link, .init = e2e_begin, .timeout = 300);

#define PROGRAMS "'" TESTS_DIR "/programs'"
#define FLAGS                                                                  \
    "-g -D_GNU_SOURCE -DTRACING -I '" BUILD_DIR "/include' " SANITIZE_FLAGS " "
#define STATIC " -L '" BUILD_DIR "' -ltestlog -lcriterion -lpcre2-8 -lpthread"
#define SHARED                                                                 \
    " -L '" BUILD_DIR "/shared' -Wl,-rpath,'" BUILD_DIR                        \
    "/shared' -ltestlog -lcriterion -lpcre2-8 -lpthread"

static void built(const struct e2e *result)
{
    cr_assert_eq(result->code, 0, "%s: %s", result->command, result->err);
}

/* Expects the verdicts, lines and traces of linked.c. Tests that are not
 * annotated have them, too, if `all`. */
static void expect_linked(const char *program, bool all)
{
    const struct e2e *run =
        e2e_exits(1, "rm -rf testlog-runs; %s -j2 --log-time=none", program);
    const char *folder = e2e_run("echo testlog-runs/latest/tests/*/")->out;
    const char *block =
        e2e_between(run->err, "---- linked/fails: failed ----\n", "trace: ");

    cr_assert_not_null(folder);
    e2e_expect_closing(run, "4 passed, 1 failed, 0 skipped");
    e2e_expect_has(
        block,
        " INFO outer:linked_work{number=3}: programs::linked: works on 3\n",
        "ERROR outer: ", "assertion failed: 3 is no half of 7\n");
    e2e_expect_has(e2e_read("%.*slinked.fails/trace.json",
                            (int)strcspn(folder, "\n"), folder),
                   "\"linked_work\"", "\"at every level\"");
    cr_expect(e2e_exists("%.*slinked.instance[1]/recording",
                         (int)strcspn(folder, "\n"), folder));
    cr_expect_eq(e2e_exists("%.*slinked.is_not_annotated/recording",
                            (int)strcspn(folder, "\n"), folder),
                 all);
}

static void expect_both(const char *compiler, const char *flags)
{
    static const char *const libraries[] = {STATIC, SHARED};

    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        char all[1024];

        snprintf(all, sizeof(all), "%s%s%s", flags,
                 i ? " -Wl,-u,test_log_all" : "", libraries[i]);
        built(e2e_run("%s " FLAGS PROGRAMS "/linked.c -o linked_test %s",
                      compiler, all));
        expect_linked("./linked_test", i);
    }
}

/* X(name, compiler, tool, flags) */
#define WAYS(X)                                                                \
    X(plainly, "gcc", "gcc", "")                                               \
    X(with_lto, "gcc", "gcc", "-O2 -flto")                                     \
    X(with_lto_of_clang, "clang", "ld.lld", "-O2 -flto -fuse-ld=lld")          \
    X(with_gc_sections, "gcc", "gcc",                                          \
      "-ffunction-sections -fdata-sections -Wl,--gc-sections")                 \
    X(with_gc_sections_of_lld, "clang", "ld.lld",                              \
      "-ffunction-sections -fdata-sections -Wl,--gc-sections -fuse-ld=lld")    \
    X(with_gold, "gcc", "ld.gold", "-fuse-ld=gold -Wl,--gc-sections")          \
    X(with_mold, "gcc", "mold", "-fuse-ld=mold -Wl,--gc-sections")             \
    X(with_hidden_visibility, "gcc", "gcc", "-fvisibility=hidden -O2")         \
    X(at_a_fixed_address, "gcc", "gcc", "-no-pie -fno-pie")                    \
    X(as_needed_and_bound_now, "gcc", "gcc",                                   \
      "-Wl,--as-needed,-z,now,-z,relro -Wl,-O1")

#define X(name, compiler, tool, flags)                                         \
    Test(e2e_link, links_##name)                                               \
    {                                                                          \
        if (SANITIZE_FLAGS[0])                                                 \
            cr_skip_test("sanitizers link in their own way");                  \
        e2e_need(compiler);                                                    \
        e2e_need(tool);                                                        \
        expect_both(compiler, flags);                                          \
    }
WAYS(X)
#undef X

/* Criterion overwrites the beginning of main in a worker. */
Test(e2e_link, keeps_the_function_behind_main_whole)
{
    const char *symbols;

    built(e2e_run("gcc " FLAGS "-O1 -fno-toplevel-reorder '" SOURCE_DIR
                  "/harness/criterion/main/main.c' " PROGRAMS
                  "/beside_main.c -o beside_test" STATIC));
    symbols = e2e_run("nm -n beside_test | grep -A1 ' main$'")->out;
    if (!SANITIZE_FLAGS[0])
        e2e_expect_has(symbols, " T beside_main\n");
    e2e_expect_closing(e2e_run("./beside_test"),
                       "1 passed, 0 failed, 0 skipped");
}

Test(e2e_link, links_and_runs_stripped)
{
    built(e2e_run("cc " FLAGS PROGRAMS "/linked.c -o linked_test %s && "
                  "strip linked_test",
                  SHARED));
    expect_linked("./linked_test", false);
}

/* The tested code and its tests are in two objects. */
Test(e2e_link, links_tests_and_code_in_shared_objects)
{
    static const char *const libraries[] = {STATIC, SHARED};

    for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
        built(e2e_run("cc " FLAGS "-shared -fPIC -DLINKED_LIBRARY " PROGRAMS
                      "/linked.c -o libwork.so && cc " FLAGS
                      "-shared -fPIC -DLINKED_TESTS " PROGRAMS
                      "/linked.c -o libtests.so -Wl,-rpath,. ./libwork.so"));
        built(e2e_run(
            "echo | cc -xc -c -o empty.o - && cc " SANITIZE_FLAGS
            " empty.o -o main -Wl,-rpath,.,--no-as-needed ./libtests.so "
            "./libwork.so %s",
            libraries[i]));
        expect_linked("./main", false);
    }
}

/* Starts a program with a copy of Criterion in which a function has another
 * name. */
static const struct e2e *run_without(const char *function, const char *program)
{
    built(e2e_run("mkdir -p other && sed s/%s/%.*sX/ $(ldd %s | awk "
                  "'/libcriterion/ { print $3 }') >other/libcriterion.so.3",
                  function, (int)strlen(function) - 1, function, program));
    return e2e_run("LD_LIBRARY_PATH=$PWD/other %s", program);
}

/* A feature that needs a part of Criterion's inside is off, with a line. */
Test(e2e_link, says_what_is_off_in_another_criterion)
{
    const struct e2e *run =
        run_without("criterion_skip_test", e2e_program("small", E2E_TRACED));

    e2e_expect_has(run->err, "/other/libcriterion.so.3 has no "
                             "criterion_skip_test, so a test's forked child "
                             "may hold up the run\n");
    e2e_expect_has(e2e_last(run->out), " passed, ");
}

/* In this copy of Criterion, its options have another size. */
Test(e2e_link, refuses_a_criterion_with_other_structs)
{
    const struct e2e *run;
    const char *program = e2e_program("small", E2E_TRACED);

    e2e_need("readelf");
    run_without("criterion_skip_test", program);
    built(e2e_run(
        "cd other && index=$(readelf --dyn-syms -W lib*.so.3 | awk '$8 ~ "
        "/^criterion_options/ { print $1 + 0 }') && start=$(readelf -SW "
        "lib*.so.3 | sed -n 's/.* [.]dynsym *DYNSYM *[0-9a-f]* "
        "\\([0-9a-f]*\\) .*/\\1/p') && printf '\\001' | dd of=$(ls lib*.so.3) "
        "bs=1 conv=notrunc seek=$((0x$start + index * 24 + 16))"));
    run = e2e_exits(2, "LD_LIBRARY_PATH=$PWD/other %s", program);
    e2e_expect_has(run->err, "libcriterion.so.3 is another Criterion than the "
                             "one that testlog was built with; build");
}

/* A copy of Criterion without a function that 2.3.3 lacks, too. */
Test(e2e_link, refuses_an_older_criterion)
{
    const char *program = e2e_program("small", E2E_TRACED);
    const char *old = "LD_LIBRARY_PATH=$PWD/old";
    const struct e2e *run;

    built(e2e_run("mkdir old && sed s/cri_assert_message/cri_assert_massage/ "
                  "$(ldd %s | awk '/libcriterion/ { print $3 }') "
                  ">old/libcriterion.so.3",
                  program));
    run = e2e_exits(2, "%s %s", old, program);
    e2e_expect_is(run->out, "");
    cr_expect_eq(e2e_count(run->err, "\n"), 1, "%s", run->err);
    e2e_expect_has(run->err, "/old/libcriterion.so.3 is older than Criterion "
                             "2.4, which testlog needs");
    cr_expect_not(e2e_exists("testlog-runs"));
    e2e_exits(2, "%s " BUILD_DIR "/testlog run %s", old, program);
    e2e_exits(0, "%s", program);
}

Test(e2e_link, cannot_be_linked_statically)
{
    const struct e2e *result = e2e_run("cc " FLAGS "-static " PROGRAMS
                                       "/linked.c -o linked_test" STATIC);

    cr_expect_neq(result->code, 0);
    e2e_expect_has(result->err, SANITIZE_FLAGS[0] ? "-static" : "criterion");
}

/* ---- Installation ---- */

#define INSTALLED E2E_INSTALLED

Test(e2e_link, links_with_the_flags_of_pkg_config)
{
    const char *cc = INSTALLED "cc " SANITIZE_FLAGS " -DTRACING " PROGRAMS
                               "/linked.c -o linked_test";

    e2e_install();
    built(e2e_run("%s $(pkg-config --cflags --libs testlog)", cc));
    expect_linked("./linked_test", false);
    e2e_expect_has(e2e_run("ldd ./linked_test")->out, "libtestlog.so.");
    built(e2e_run("%s $(pkg-config --cflags --libs testlog-static)", cc));
    expect_linked("./linked_test", false);
    e2e_expect_lacks(e2e_run("ldd ./linked_test")->out, "libtestlog");
    /* testlog comes before Criterion, in any order of packages. */
    built(e2e_run("%s $(pkg-config --cflags --libs criterion testlog)", cc));
    expect_linked("./linked_test", false);
}

/* The library is linked, or loaded by the test; it does not name testlog, or
 * the linker requires that it does. */
Test(e2e_link, links_an_annotated_shared_library_of_the_project)
{
    static const char *const packages[] = {"testlog", "testlog-static"};

    e2e_install();
    built(e2e_run(INSTALLED "cc " FLAGS "-shared -fPIC -DPLUGIN " PROGRAMS
                            "/plugged.c -o libplugged.so"));
    for (size_t i = 0; i < 2; i++) {
        built(e2e_run(INSTALLED "cc " FLAGS PROGRAMS "/plugged.c -o loads_test "
                                "$(pkg-config --cflags --libs %s)",
                      packages[i]));
        e2e_expect_closing(e2e_run("./loads_test"),
                           "1 passed, 0 failed, 0 skipped");
        cr_expect(e2e_exists("testlog-runs/latest/tests/loads_test/"
                             "plugged.works/trace.json"));
        built(e2e_run(INSTALLED
                      "cc " FLAGS "-DLINKED " PROGRAMS
                      "/plugged.c -o linked_test -L. -Wl,-rpath,. -lplugged "
                      "$(pkg-config --cflags --libs %s)",
                      packages[i]));
        e2e_expect_closing(e2e_run("./linked_test"),
                           "1 passed, 0 failed, 0 skipped");
    }
    built(e2e_run(INSTALLED "cc " FLAGS
                            "-shared -fPIC -Wl,-z,defs -DPLUGIN " PROGRAMS
                            "/plugged.c -o libplugged.so "
                            "$(pkg-config --cflags --libs testlog)"));
    built(e2e_run("echo 'int plugged(int); int main(void) { return "
                  "plugged(2) - 4; }' | cc " SANITIZE_FLAGS
                  " -xc - -o tool -L. -Wl,-rpath,. -lplugged && ./tool"));
}

/* nvcc rejects many flags of other compilers. */
Test(e2e_link, links_cuda_files_with_the_flags_of_pkg_config)
{
    static const char kernel[] =
        "#include <testlog/test_log.h>\n"
        "__global__ void add(int *sum) { *sum += 1; }\n"
        "TEST_LOG(kernel, logs)\n"
        "{\n"
        "    trace_span(INFO, \"work\");\n"
        "    if (getenv(\"LAUNCH\"))\n"
        "        add<<<1, 1>>>(NULL);\n"
        "    log_info(\"compiled by nvcc\");\n"
        "}\n";
    static const char *const packages[] = {"testlog", "testlog-static"};

    e2e_need("nvcc");
    e2e_install();
    test_save("k_test.cu", kernel, strlen(kernel));
    for (size_t i = 0; i < 2; i++) {
        const struct e2e *run;

        built(e2e_run(INSTALLED "nvcc -DTRACING k_test.cu $(pkg-config "
                                "--cflags --libs %s) -o k_test",
                      packages[i]));
        run = e2e_run("./k_test --show-output");
        e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
        e2e_expect_has(run->err, "INFO work: k_test: compiled by nvcc");
    }
}

/* The names of headers have a version, which a program asks for. */
Test(e2e_link, exports_the_names_of_headers)
{
    const struct e2e *run = e2e_run(
        "for library in testlog testlog-core; do nm -D --defined-only "
        "'" BUILD_DIR "'/shared/lib$library.so.0; done | sed -n "
        "'s/.* \\(.*\\)@@TESTLOG_[0-9]*[.][0-9]*$/\\1/p' | tee names | while "
        "read name; do grep "
        "-qw $name '" BUILD_DIR "'/include/testlog/*.h || echo $name; done; "
        "grep -c trace_span_begin_ names");

    e2e_expect_is(run->out, "test_log_before_all\n2\n");
}

/* All other names interpose functions of Criterion, libgit2, compilers and
 * sanitizers; these have no version, because those may have any. */
Test(e2e_link, exports_no_other_names)
{
    e2e_expect_is(
        e2e_run("nm -D --defined-only '" BUILD_DIR
                "/shared/libtestlog.so.0' | awk '{print $3}' | "
                "grep -v '@@TESTLOG_' | grep -vE '^(criterion)_|^main$|"
                "^TESTLOG_|"
                "^cr_log$|^cri_assert_node_send$|"
                "^git_(libgit2_(init|shutdown)|diff_buffers)$|"
                "^nn_bind$|^waitid$|^dlclose$|^prctl$|"
                "^__cyg_profile_func_(enter|exit)$|"
                "^(nvrtc[A-Z]|nvvm[A-Z]|(__)?nvJitLink[A-Z])|"
                "^__(ubsan|lsan|"
                "sanitizer|asan|odr_asan)[._]'")
            ->out,
        "");
}

/* ---- Loaded during a test ---- */

static const struct e2e *load(const char *library, const char *flags)
{
    static const char *const objects[][3] = {
        {"one", "gcc", "c"}, {"other", "gcc", "c"}, {"cxx", "g++", "cpp"}};
    char command[512];

    for (size_t i = 0; i < sizeof(objects) / sizeof(*objects); i++) {
        snprintf(command, sizeof(command), "-DPLUGIN='\"%s\"' -o %s.so",
                 objects[i][0], objects[i][0]);
        built(e2e_run(
            i == 2 ? "c++ " FLAGS "-shared -fPIC %s " PROGRAMS "/plugin.cpp"
                   : "cc " FLAGS "-shared -fPIC %s " PROGRAMS "/plugin.c",
            command));
    }
    built(e2e_run("cc " FLAGS PROGRAMS
                  "/loading.c -rdynamic -o loading_test %s",
                  library));
    return e2e_run("./loading_test --log-time=none -j2 %s", flags);
}

static void expect_loaded(const struct e2e *run, const char *lines)
{
    e2e_expect_code(run, 1);
    e2e_expect_is(e2e_last(run->out), "2 passed, 1 failed, 0 skipped");
    e2e_expect_has(lines,
                   "plugin_work{number=5}: programs::plugin: one works on 5\n",
                   "programs::plugin: one is unloaded\n",
                   "programs::loading: visited all call sites\n");
}

static void expect_recorded(const char *library)
{
    const struct e2e *run = load(library, "--show-output");
    const char *lines = e2e_read("testlog-runs/latest/tests/loading_test/"
                                 "loading.spans_outlive_their_object/log.txt");

    expect_loaded(run, run->err);
    e2e_expect_has(
        lines,
        "INFO one's span{name=\"one\"}: programs::loading: in a span of "
        "unloaded code\n",
        "INFO cxx's span{name=\"cxx\"}: programs::loading: in a span of "
        "unloaded code\n",
        "plugin_work{number=1}: programs::plugin: other's event number=1\n");
}

Test(e2e_link, records_code_that_is_unloaded)
{
    expect_recorded(STATIC);
}

Test(e2e_link, records_unloaded_code_with_the_shared_library)
{
    expect_recorded(SHARED);
}

Test(e2e_link, prints_code_that_is_unloaded_live)
{
    const struct e2e *run = load(STATIC, "--nocapture --log-span-events=full");

    expect_loaded(run, run->err);
    e2e_expect_has(run->err,
                   "one's span{name=\"one\"}: programs::loading: in a span of "
                   "unloaded code\n",
                   "cxx's span{name=\"cxx\"}: programs::loading: in a span of "
                   "unloaded code\n",
                   "one's span{name=\"one\"}: programs::plugin: close\n");
}

Test(e2e_link, filters_spans_of_unloaded_code)
{
    const struct e2e *run =
        load(STATIC, "--show-output --trace-filter='off,[cxx.s span]=trace,"
                     "[plugin_work]=trace' --log=trace");

    e2e_expect_is(e2e_last(run->out), "2 passed, 1 failed, 0 skipped");
}

/* ---- make ---- */

Test(e2e_link, make_accepts_words_for_on_and_off)
{
    const struct e2e *run =
        e2e_exits(2, "make -n -C %s TRACING=maybe help", SOURCE_DIR);

    e2e_expect_has(run->err, "testlog: TRACING=maybe: write 0 or 1.");
    e2e_exits(0, "make -n -C %s TRACING= help", SOURCE_DIR);
    run = e2e_exits(0, "make -n -C %s TRACING=yes WERROR=off all", SOURCE_DIR);
    e2e_expect_has(run->out, " -o build/base-trace/examples/http_test ");
}

Test(e2e_link, make_builds_all_installed_files_and_examples)
{
    const struct e2e *run = e2e_exits(
        0, "make -n --no-print-directory -C %s B=elsewhere", SOURCE_DIR);

    e2e_expect_has(run->out, "ar rcs elsewhere/libtestlog.a ",
                   " -o elsewhere/shared/libtestlog.so.",
                   " -o elsewhere/testlog ",
                   " -o elsewhere/examples/http_test ");
}

Test(e2e_link, make_runs_deps_before_other_goals)
{
    const struct e2e *run =
        e2e_exits(0, "make -n -C '%s' deps clean help", SOURCE_DIR);

    e2e_expect_lacks(run->err, "overriding");
    cr_expect_eq(e2e_count(run->out, "rm -rf build\n"), 1, "%s", run->out);
}

/* Some machines have such a script in /usr/local/bin. */
Test(e2e_link, make_finds_the_toolkit_behind_a_script)
{
    const struct e2e *run;

    e2e_run("mkdir -p tools/bin kit/bin kit/include kit/lib64 && "
            "printf '#!/bin/sh\\nexec kit/bin/nvcc\\n' >tools/bin/nvcc && "
            "touch kit/bin/nvcc kit/include/nvrtc.h kit/lib64/libcudart.so "
            "kit/lib64/libnvrtc.so");
    run =
        e2e_run("CUDA_HOME= CUDA_PATH= PATH=$PWD/tools/bin:$PWD/kit/bin:$PATH "
                "make -C '%s' toolkit",
                SOURCE_DIR);
    e2e_expect_has(run->out, "/kit (");
    run = e2e_run("CUDA_HOME=$PWD/tools CUDA_PATH= PATH=/usr/bin:/bin "
                  "make -C '%s' toolkit",
                  SOURCE_DIR);
    e2e_expect_lacks(run->out, "/tools (");
}

Test(e2e_link, make_supports_spaces_in_folder_names)
{
    e2e_exits(0,
              "mkdir 'a b' && (cd '%s' && cp -r GNUmakefile trace log harness "
              "runners examples tests \"$OLDPWD/a b\") && make -s -C 'a b' "
              "B=built built/trace/base/text.o",
              SOURCE_DIR);
    e2e_expect_lacks(
        e2e_run("make -n -C '%s' install DESTDIR='a b'", SOURCE_DIR)->out,
        " a b");
}

/* A file that the shell writes would be unreadable under umask 077. */
Test(e2e_link, make_installs_files_that_others_can_read)
{
    const struct e2e *run = e2e_exits(
        0, "make -n -C '%s' install DESTDIR=/d PREFIX=/usr", SOURCE_DIR);

    e2e_expect_has(run->out, "| install -m 644 /dev/stdin '/d/usr/");
    e2e_expect_lacks(run->out, ">'/d/");
}

/* A constructor would run in every process of a test, and an exit or crash in
 * it would end the run. */
Test(e2e_link, contains_no_constructor)
{
    const struct e2e *result;

    e2e_need("readelf");
    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers add constructors");
    result = e2e_exits(0, "readelf -SW '" BUILD_DIR "/libtestlog.a'");
    e2e_expect_has(result->out, ".text");
    e2e_expect_lacks(result->out, ".init_array", ".ctors");
}
