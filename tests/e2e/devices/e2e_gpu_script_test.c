/* e2e_gpu_script_test.c: the dry run and the summary of tests/gpu/run.sh,
 * without a GPU. */
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "tests/support/e2e.h"
#include "tests/support/support.h"

TestSuite(e2e_gpu_script, .init = e2e_begin, .timeout = 300);

E2E_FOLDER

/* ---- The dry run ---- */

/* The rows of a kind; all if `kind` is NULL. */
static cJSON *rows_of(const char *path, const char *kind)
{
    char *text = strdup(e2e_read("%s", path)), *rest = text, *line;
    cJSON *rows = cJSON_CreateArray();

    while ((line = strtok_r(rest, "\n", &rest))) {
        cJSON *row = cJSON_Parse(line);

        cr_assert_not_null(row, "no JSON: %s", line);
        if (!kind || !strcmp(e2e_text(row, "kind"), kind))
            cJSON_AddItemToArray(rows, row);
        else
            cJSON_Delete(row);
    }
    free(text);
    return rows;
}

static const cJSON *named(const cJSON *rows, const char *name)
{
    const cJSON *row;

    cJSON_ArrayForEach(row, rows) if (!strncmp(e2e_text(row, "name"), name,
                                               strlen(name))) return row;
    cr_assert_fail("no row \"%s\"", name);
    return NULL;
}

static void need(const char *command, const char *what)
{
    if (e2e_run("%s", command)->code)
        cr_skip_test("%s", what);
}

Test(e2e_gpu_script, measures_playback_in_a_dry_run)
{
    const struct e2e *run;
    cJSON *criteria;

    need("command -v python3", "no python3");
    if (!e2e_exists("%s/tests/playback.so", BUILD_DIR))
        cr_skip_test("no playback library");
    if (strstr(SANITIZE_FLAGS, "address"))
        cr_skip_test("the sanitizer refuses preloaded libraries");
    run = e2e_exits(0,
                    "'%s/gpu/run.sh' --dry-run --built '%s' --out \"$PWD/out\" "
                    "--launches 20 --repetitions 2 --limit 100",
                    TESTS_DIR, VARIANT_DIR);
    e2e_expect_has(run->out, "This was a dry run: no GPU was used.",
                   "[SKIP]   torch.profiler: ");
    e2e_expect_has(e2e_last(run->out), " passed, 0 failed, ");
    e2e_expect_has(e2e_read("out/RESULTS.md"), "**A dry run: no GPU was used.",
                   "only a GPU can pass them.");
    criteria = rows_of("out/results.jsonl", "criterion");
    cr_expect_str_eq(e2e_text(named(criteria, "1 "), "verdict"), "pass");
    cr_expect_str_eq(e2e_text(named(criteria, "7 "), "verdict"), "pass");
    cr_expect_str_eq(e2e_text(named(criteria, "7 "), "note"),
                     "shows only that the steps fit together");
    cr_expect_str_eq(e2e_text(named(criteria, "12 "), "verdict"), "skip");
    cr_expect_str_eq(e2e_text(named(criteria, "14 "), "verdict"), "pass");
    cJSON_Delete(criteria);
    e2e_expect_is(e2e_run("cd out && ls")->out,
                  "RESULTS.md\nenv.txt\nresults.jsonl\nresults.tar.gz\n");
    e2e_expect_has(e2e_run("tar tf out/results.tar.gz")->out,
                   "fixtures/plain.fixture\n");
}

/* The first line names the failure, for every summary shows that line. */
static void expect_all_steps_ok(const struct e2e *run)
{
    const char *failed = strstr(run->out, "FAILED   ");

    if (!failed)
        failed = strstr(run->out, "[SKIP]   examples");
    if (!failed)
        failed = run->err[0] ? run->err : e2e_last(run->out);
    cr_assert(!run->code && strstr(run->out, "ok       examples\n"),
              "exit %d: %.*s\n%s\n%s", run->code, (int)strcspn(failed, "\n"),
              failed, run->out, run->err);
    e2e_expect_has(e2e_last(run->out), " passed, 0 failed, ");
}

/* Also shows that NVRTC finds its own libraries there. */
Test(e2e_gpu_script, runs_on_a_bare_machine, .timeout = 1200)
{
    const struct e2e *run;

    if (!getenv("CHROOT"))
        cr_skip_test("takes minutes: make test-gpu-bare");
    e2e_allow(1100);
    if (e2e_run("'%s/gpu/run.sh' --download \"$PWD/debs\"", TESTS_DIR)->code)
        cr_skip_test("no packages can be downloaded");
    run = e2e_run("CFLAGS=-O0 '%s/gpu/chroot.sh' debs out --launches 20 "
                  "--limit 1000",
                  TESTS_DIR);
    if (run->code == 77)
        cr_skip_test("%s", run->out);
    expect_all_steps_ok(run);
    e2e_expect_has(e2e_run("tar xOf out/results.tar.gz log/examples.txt")->out,
                   "cuda_identity/compiles[0]: passed");
}

Test(e2e_gpu_script, refuses_an_unknown_flag)
{
    e2e_expect_has(e2e_exits(2, "'%s/gpu/run.sh' --wet-run", TESTS_DIR)->err,
                   "run.sh [--out DIR]");
}

Test(e2e_gpu_script, refuses_an_unknown_part)
{
    e2e_expect_has(
        e2e_exits(2, "'%s/gpu/run.sh' --only timing,timings", TESTS_DIR)->err,
        "run.sh: --only: no part \"timings\"; there are "
        "suite,counts,timing,ab,gate,sampling,questions and ");
}

/* ---- The summary ---- */

/* What a launch took, of all kinds. */
#define BENCH(mode, work, repetition, ns, more)                                \
    "{\"kind\":\"bench\",\"mode\":\"" mode "\",\"work\":\"" work               \
    "\",\"repetition\":" #repetition ",\"launch_p50_ns\":" ns                  \
    ",\"launch_mean_ns\":" ns ",\"wall_ns_per_launch\":" ns more "}\n"
#define COUNTED(work, repetition, more)                                        \
    BENCH("counted", work, repetition, "2300", more)
#define COUNT(label, ids, kinds) COUNT_NOTED(label, ids, kinds, "")
#define COUNT_NOTED(label, ids, kinds, notes)                                  \
    "{\"kind\":\"count\",\"label\":\"" label                                   \
    "\",\"kernels\":40,\"kernel_ids\":" #ids                                   \
    ",\"kernels_without_call\":0,\"calls_not_nested\":0,\"bad_times\":0,"      \
    "\"dropped\":0,\"outside\":{},\"largest_skew_ns\":9000,"                   \
    "\"names\":{\"empty\":40},"                                                \
    "\"durations\":{\"launches_spin\":[1000100,1003000,1010000]},"             \
    "\"launched_by\":{},\"kinds\":{" kinds "},\"meta\":{\"gpu.dropped\":"      \
    "\"0\",\"gpu.undecoded\":\"0\"" notes "},"                                 \
    "\"compiles\":[{\"stage\":\"cache_store "                                  \
    "cache_load JIT compile\"}]}\n"
#define MADE ",\"kernels\":40,\"calls\":40,\"copies\":20,\"sets\":10"
#define TIMED(work)                                                            \
    BENCH("off", work, 1, "2000", "")                                          \
    BENCH("ours", work, 1, "2300", "")                                         \
    BENCH("torch:off", work, 1, "2100", "")
#define TORCH(work)                                                            \
    BENCH("torch:cuda", work, 1, "4000", ",\"names\":{\"empty\":40}")
#define COPIES "\"MEMCPY\":20,\"MEMSET\":10"
#define GRAPH  ",\"kernels\":40,\"calls\":2,\"captured\":20"
#define CAPTURED                                                               \
    ",\"gpu.captured\":\"20\",\"gpu.lost\":\"0\",\"gpu.orphans\":\"0\""
#define FIXTURE                                                                \
    "{\"kind\":\"fixture\",\"name\":\"copies.fixture\",\"kernels\":40,"        \
    "\"copies\":20,\"sets\":10,\"kernel\":\"empty\"}\n"

#define GATE                                                                   \
    "{\"kind\":\"gate\",\"work\":\"empty\",\"launched\":40,\"completed\":{"    \
    "\"kernels\":30,\"open\":0,\"torn\":0},\"unfinished\":{\"kernels\":9,"     \
    "\"open\":1,\"torn\":0}}\n"

#define PHASES                                                                 \
    "{\"kind\":\"sampled\",\"label\":\"phases\",\"edge_ns\":400000,"           \
    "\"counters\":{\"SM active %\":{\"spin\":97,\"idle\":0.5,\"set\":20},"     \
    "\"DRAM write %\":{\"spin\":0,\"idle\":0,\"set\":80}},\"meta\":{}}\n"

static const char *const rows[] = {
    TIMED("empty"),
    COUNTED("empty", 1, MADE),
    COUNT("empty.1", 40, ""),
    COUNTED("empty", 2, MADE),
    COUNT("empty.2", 40, ""),
    TORCH("empty"),
    TIMED("streams:16"),
    COUNTED("streams:16", 0, MADE),
    COUNT("streams:16", 40, ""),
    TORCH("streams:16"),
    TIMED("threads:8"),
    COUNTED("threads:8", 0, MADE),
    COUNT("threads:8", 40, ""),
    TORCH("threads:8"),
    TIMED("graph"),
    COUNTED("graph", 0, GRAPH),
    COUNT_NOTED("graph", 2, "", CAPTURED),
    TORCH("graph"),
    COUNTED("capture", 0, GRAPH),
    COUNT_NOTED("capture", 2, "", CAPTURED),
    TORCH("capture"),
    TIMED("mixed"),
    COUNTED("mixed", 0, MADE),
    COUNT("mixed", 40, COPIES),
    TORCH("mixed"),
    COUNT("jit.cold", 40, ""),
    COUNT("jit.warm", 40, ""),
    COUNT("spin", 40, ""),
    FIXTURE,
    COUNT("fixture.copies", 40, COPIES),
    COUNT_NOTED("busy", 40, "", ",\"gpu.state\":\"busy\""),
    GATE,
    PHASES,
    BENCH("sampled launches", "empty", 0, "2300", ",\"kernels\":40"),
    "{\"kind\":\"sampled\",\"label\":\"launches\",\"meta\":{\"gpu.launched\":"
    "\"40\"}}\n",
};

/* A change to the row that contains `where`, and the criterion that fails. */
struct wrong {
    char criterion[16], where[64], was[64], is[64];
};

ParameterizedTestParameters(e2e_gpu_script,
                            fails_the_criterion_that_is_violated)
{
    static struct wrong wrongs[] = {
        {"", "", "", ""},
        {"1 ", "\"label\":\"streams:16", "\"kernels\":40", "\"kernels\":39"},
        {"2 ", "\"label\":\"graph", "\"kernel_ids\":2", "\"kernel_ids\":3"},
        {"3 ", "\"label\":\"mixed", "_without_call\":0", "_without_call\":1"},
        {"3 ", "\"label\":\"mixed", "_not_nested\":0", "_not_nested\":1"},
        {"4 ", "\"label\":\"graph", "\"bad_times\":0", "\"bad_times\":1"},
        {"5 ", "\"label\":\"mixed", "\"dropped\":0", "\"dropped\":1"},
        {"5 ", "\"label\":\"mixed", "gpu.undecoded\":\"0", "gpu.dropped\":\"2"},
        {"6 ", "\"label\":\"threads:8", "skew_ns\":9000", "skew_ns\":20001"},
        {"7 ", "\"label\":\"mixed", "\"MEMCPY\":20", "\"MEMCPY\":19"},
        {"8 ", "\"label\":\"jit.warm", "cache_load", "module_load"},
        {"9 ", "\"label\":\"empty.2", "launched_by\":{}",
         "launched_by\":{\"a\":1}"},
        {"10 ", "\"torch:cuda\",\"work\":\"mixed", "empty", "other"},
        {"11 ", "\"torch:cuda\",\"work\":\"empty", "p50_ns\":4000",
         "p50_ns\":2400"},
        {"11 ", "\"torch:cuda\",\"work\":\"graph", "launch\":4000",
         "launch\":2399"},
        {"12 ", "\"label\":\"spin", "1003000", "1020100"},
        {"12 ", "\"label\":\"spin", "1003000", "979900"},
        {"12 ", "\"label\":\"spin", "launches_spin", "launches_empty"},
        {"13 ", "\"label\":\"graph", "captured\":\"20", "captured\":\"19"},
        {"13 ", "\"label\":\"capture", "gpu.lost\":\"0", "gpu.lost\":\"1"},
        {"13 ", "\"label\":\"graph", "orphans\":\"0", "orphans\":\"3"},
        {"14 ", "\"label\":\"fixture", "\"kernels\":40", "\"kernels\":41"},
        {"14 ", "\"label\":\"fixture", "\"MEMCPY\":20", "\"MEMCPY\":19"},
        {"14 ", "\"label\":\"fixture", "\"MEMSET\":10", "\"MEMSET\":9"},
        {"14 ", "\"label\":\"fixture", "outside\":{}", "outside\":{\"K\":1}"},
        {"14 ", "\"label\":\"fixture", "\"empty\":40", "\"other\":40"},
        {"15 ", "\"label\":\"busy", "\"busy\"}", "\"on\"}"},
        {"16 ", "\"kind\":\"gate", "\"torn\":0", "\"torn\":1"},
        {"17 ", "\"label\":\"phases", "\"spin\":97", "\"spin\":80"},
        {"17 ", "\"label\":\"phases", "\"set\":80", "\"sat\":80"},
        {"17 ", "\"label\":\"phases", ":400000", ":-1400000"},
        {"18 ", "\"label\":\"launches", "\"40\"", "\"39\""},
    };

    return cr_make_param_array(struct wrong, wrongs,
                               sizeof(wrongs) / sizeof(wrongs[0]));
}

static void save(const struct wrong *wrong)
{
    struct trace_text text = {0};
    int replaced = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const char *row = rows[i];
        const char *at =
            strstr(row, wrong->where) ? strstr(row, wrong->was) : NULL;

        if (at && *wrong->was) {
            trace_text_add(&text, row, (size_t)(at - row));
            trace_text_string(&text, wrong->is);
            row = at + strlen(wrong->was);
            replaced++;
        }
        trace_text_string(&text, row);
    }
    cr_assert_eq(replaced, *wrong->was ? 1 : 0);
    test_save("results.jsonl", text.data, text.size);
    trace_text_free(&text);
}

ParameterizedTest(struct wrong *wrong, e2e_gpu_script,
                  fails_the_criterion_that_is_violated)
{
    const cJSON *row;
    cJSON *criteria;

    need("command -v python3", "no python3");
    save(wrong);
    e2e_exits(0, "python3 '%s/gpu/summary.py' results.jsonl page.md",
              TESTS_DIR);
    criteria = rows_of("results.jsonl", "criterion");
    cr_assert_eq(cJSON_GetArraySize(criteria), 18);
    cJSON_ArrayForEach(row, criteria)
    {
        bool fails = *wrong->criterion &&
                     !strncmp(e2e_text(row, "name"), wrong->criterion,
                              strlen(wrong->criterion));

        cr_expect_str_eq(e2e_text(row, "verdict"), fails ? "fail" : "pass",
                         "%s: %s", e2e_text(row, "name"),
                         e2e_text(row, "note"));
    }
    cJSON_Delete(criteria);
}

/* Without measurements, no criterion passes. */
Test(e2e_gpu_script, skips_criteria_without_measurements)
{
    const cJSON *row;
    cJSON *criteria;

    need("command -v python3", "no python3");
    test_save("results.jsonl", "", 0);
    e2e_exits(0, "python3 '%s/gpu/summary.py' results.jsonl page.md",
              TESTS_DIR);
    criteria = rows_of("results.jsonl", "criterion");
    cJSON_ArrayForEach(row, criteria) cr_expect_str_eq(
        e2e_text(row, "verdict"), "skip", "%s", e2e_text(row, "name"));
    cJSON_Delete(criteria);
}
