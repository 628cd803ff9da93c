/* diff.c: testlog diff: prints what changed from one run to another. */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "diff.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "runners/runners.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

struct settings {
    bool json;
    bool any_flavour;
    enum measure by;
    bool fails;       /* if something is slower or more frequent by `over` */
    bool fails_noisy; /* if something is too noisy to tell */
    double over;
};

/* ---- Comparing ---- */

static void put_flavours(const struct compared *compared,
                         const struct recorded_runs *runs)
{
    const char *before = test_log_run_flavour(&compared->before);
    const char *after = test_log_run_flavour(&compared->after);

    if (!compared->apart)
        return;
    if (!runs->any_flavour && before && after && strcmp(before, after) != 0)
        test_log_notice("diff: only results are compared, because the builds "
                        "differ: %s, then %s; --any-flavour compares times, "
                        "too",
                        before, after);
    else if (compared->locked[0] != compared->locked[1])
        test_log_notice("diff: only results are compared, because counters of "
                        "GPUs were sampled in the run %s, which locks their "
                        "clocks",
                        compared->locked[0] ? "before" : "after");
    else
        test_log_notice("diff: only results are compared, because instructions "
                        "were counted in two ways: %s; %s",
                        compared->counted[0], compared->counted[1]);
}

/* Returns whether anything of both sides was measured, or need not be. */
static bool is_measured(const struct compared *compared,
                        const struct recorded_runs *runs)
{
    const struct changes *changes = &compared->changes;
    bool some = compared->spans.count > 0;

    for (int i = 0; i < VERDICTS; i++)
        some |= changes->verdicts[i] > 0;
    if (some || runs->by == MEASURE_TIME)
        return true;
    if (!compared->apart)
        test_log_notice("diff: no test or span of both sides has a %s",
                        runners_measure_texts[runs->by]);
    return false;
}

/* Prints why the exit code is 1 although no test newly fails. */
static bool has_counts(const struct compared *compared, enum verdict verdict,
                       const char *text)
{
    size_t tests = compared->changes.verdicts[verdict];
    size_t others =
        compared->spans.counts[verdict] + compared->kernels.counts[verdict];

    if (verdict == VERDICT_SLOWER)
        others += compared->spans.frequent + compared->kernels.frequent;
    if (tests || others)
        test_log_notice("diff: %zu test%s and %zu span%s or kernel%s %s", tests,
                        tests == 1 ? "" : "s", others, others == 1 ? "" : "s",
                        others == 1 ? "" : "s", text);
    return tests || others;
}

static int code_of(const struct compared *compared,
                   const struct settings *settings, bool measured)
{
    bool failed = compared->changes.counts[CHANGE_NEWLY_FAILING];
    char text[64];

    if (!measured && (settings->fails || settings->fails_noisy))
        return TEST_LOG_EXIT_USAGE;
    snprintf(text, sizeof(text), "exceed --fail-over=%g%%",
             100 * settings->over);
    if (settings->fails && has_counts(compared, VERDICT_SLOWER, text))
        failed = true;
    if (settings->fails_noisy &&
        has_counts(compared, VERDICT_TOO_NOISY, "are too noisy to tell"))
        failed = true;
    return failed ? TEST_LOG_EXIT_FAILED : TEST_LOG_EXIT_PASSED;
}

static int compare(const struct recorded_runs *runs,
                   const struct settings *settings)
{
    struct compared compared;
    int code = TEST_LOG_EXIT_USAGE;

    if (!runners_compared_read(&compared, runs, settings->over)) {
        bool measured = is_measured(&compared, runs);

        put_flavours(&compared, runs);
        if (settings->json)
            runners_diff_put_json(&compared, runs);
        else
            runners_diff_put_text(&compared, runs);
        code = runners_written("diff", code_of(&compared, settings, measured));
    }
    runners_compared_free(&compared);
    return code;
}

/* ---- Arguments ---- */

/* The programs of the latest run, and whether a run before has one. */
struct programs {
    struct trace_table hashes;
    bool met;
};

static uint64_t program_of(const cJSON *test)
{
    const char *program = runners_json_text(test, "program");

    return trace_hash_string(TRACE_HASH, program ? program : "");
}

static bool add_program(void *context, const cJSON *test)
{
    struct programs *programs = context;

    return trace_table_set(&programs->hashes, program_of(test), 0);
}

static bool meet_program(void *context, const cJSON *test)
{
    struct programs *programs = context;
    uintptr_t unused;

    programs->met =
        trace_table_find(&programs->hashes, program_of(test), &unused);
    return !programs->met;
}

/* Finds the last run before the latest that has one of its programs; if there
 * is none, the run before. */
static bool find_previous(const char *dir, char *path)
{
    const struct test_log_run run = {.path = path};
    struct programs programs = {.met = false};
    char word[32] = "latest";

    if (runners_find_run(dir, word, path))
        runners_read_each(&run, add_program, &programs);
    for (unsigned before = 1; !programs.met; before++) {
        snprintf(word, sizeof(word), "latest~%u", before);
        if (!runners_find_run(dir, word, path))
            break;
        runners_read_each(&run, meet_program, &programs);
    }
    trace_table_free(&programs.hashes);
    return programs.met || runners_find_run(dir, "latest~1", path);
}

static bool find(const char *dir, const char *word, char *path)
{
    if (runners_find_run(dir, word, path))
        return true;
    if (errno != EBADMSG)
        test_log_notice(
            "diff: there is no run %s in %s; testlog list lists them", word,
            dir);
    return false;
}

static bool add_path(struct run_paths *paths, const char *path)
{
    if (!runners_paths_add(paths, path))
        return true;
    test_log_notice("diff: out of memory");
    return false;
}

/* Adds the runs that a word lists, separated by commas. A folder may have a
 * comma in its name. */
static bool add_runs(struct run_paths *paths, const char *dir, const char *word)
{
    const char *next = word;
    bool is_folder = !access(word, F_OK), added;
    char path[PATH_MAX];

    do {
        size_t size = is_folder ? strlen(next) : strcspn(next, ",");
        char *one = strndup(next, size);

        if (!size)
            test_log_notice("diff: \"%s\" names no run between its commas",
                            word);
        added = size && one && find(dir, one, path) && add_path(paths, path);
        free(one);
        next += size;
    } while (added && *next++);
    return added;
}

static bool add_sides(struct run_paths sides[2], const char *dir, char **words)
{
    const char *after = words[0] && words[1] ? words[1] : "latest";
    char path[PATH_MAX];

    if (words[0] ? !add_runs(&sides[0], dir, words[0])
                 : !(find_previous(dir, path)
                         ? add_path(&sides[0], path)
                         : add_runs(&sides[0], dir, "latest~1")))
        return false;
    return add_runs(&sides[1], dir, after);
}

static int compare_named(char **words, const struct settings *settings)
{
    struct recorded_runs runs = {.command = "diff",
                                 .by = settings->by,
                                 .any_flavour = settings->any_flavour};
    char *no_folder[] = {NULL};
    struct test_log_options options;
    int code = TEST_LOG_EXIT_USAGE;

    if (words[0] && words[1] && words[2]) {
        test_log_notice("diff: two runs are enough; leave out %s, or write "
                        "%s,%s for several of one side",
                        words[2], words[1], words[2]);
        return code;
    }
    if (runners_settings(&options, "diff", no_folder))
        return code;
    if (add_sides(runs.sides, options.dir, words))
        code = compare(&runs, settings);
    for (int i = 0; i < 2; i++)
        runners_paths_free(&runs.sides[i]);
    test_log_options_free(&options);
    return code;
}

/* Reads "10%" or "10". */
static bool read_percent(struct test_log_reader *reader)
{
    struct settings *settings = reader->into;
    char *end;
    double percent = strtod(reader->value, &end);

    if (end == reader->value || (*end && strcmp(end, "%") != 0) ||
        !(percent >= 0 && percent <= 1e6))
        return test_log_flag_refuse(
            reader, "%s needs a percentage such as 10%%, not \"%s\"",
            reader->name, reader->value);
    settings->fails = true;
    settings->over = percent / 100;
    return true;
}

static bool read_measure(struct test_log_reader *reader)
{
    struct settings *settings = reader->into;
    unsigned choice;

    if (test_log_read_word(reader->name, reader->value, runners_measure_words,
                           &choice))
        return test_log_flag_judge(reader, -1);
    settings->by = (enum measure)choice;
    return true;
}

#define AT(member) .at = offsetof(struct settings, member)

static const struct test_log_flag flags[] = {
    {"--fail-over", NULL, "PERCENT",
     "exit with 1 also if something is slower or more frequent by more than "
     "that, such as 10%",
     .read = read_percent},
    {"--fail-noisy", NULL, NULL,
     "exit with 1 also if something is too noisy to tell", test_log_read_on,
     AT(fails_noisy)},
    {"--by", NULL, "time|cpu|instructions|memory|",
     "compare that; instructions need --callgrind or a counter, spans the "
     "profiler options cpu=1,instructions=1",
     .read = read_measure},
    {"--any-flavour", NULL, NULL,
     "compare the times of builds of different flavours, too", test_log_read_on,
     AT(any_flavour)},
    {"--json", NULL, NULL, "print one JSON object", test_log_read_on, AT(json)},
    TEST_LOG_HELP,
};

static int run(char **argv)
{
    struct settings settings = {.over = -1};
    int code;

    if (!test_log_flags_read(&runners_diff, &settings, &argv, NULL, &code))
        return code;
    if (settings.over < 0)
        settings.over = runners_over_least(settings.by);
    return compare_named(argv, &settings);
}

const struct test_log_command runners_diff = {
    .name = "diff",
    .help = "print what changed from one run to another",
    .synopsis = "[RUN,... [RUN,...]] [FLAG...]",
    .text = "Prints which tests changed their result from the first run to the "
            "second, and which tests, spans and GPU kernels became slower or "
            "more frequent. RUN is the folder of a run or a name in testlog "
            "list; several of a side are separated by commas. The defaults are "
            "latest~1 and latest. The exit code is 1 if a test newly fails.",
    TEST_LOG_FLAGS(flags),
    .operand = "RUN",
    .run = run,
};
