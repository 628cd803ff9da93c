/* diff.c: testlog diff: prints what changed from one run to another. */
#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "compared.h"
#include "harness/results/folder/notice.h"
#include "harness/runner/options/options.h"
#include "log/replay/replay.h"
#include "runners/find/find.h"
#include "runners/find/run_json.h"
#include "runners/runners.h"
#include "runners/stat/stat.h"
#include "runners/table/table_printer.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

enum { SHOWN_MOST = 20 /* of a kind, except newly failing tests */ };

struct settings {
    bool json;
    bool any_flavour;
    bool fails; /* something is slower or more frequent by `over` */
    double over;
};

static void usage(void)
{
    puts("Usage: testlog diff [RUN [RUN]] [--fail-over=PERCENT]\n"
         "                    [--any-flavour] [--json]\n\n"
         "Prints which tests changed their result or duration from the first "
         "run to the\nsecond, and which spans and GPU kernels became slower or "
         "more frequent.\nRUN is the folder of a run or a name in testlog "
         "list. The defaults are latest~1\nand latest. The exit code is 1 if a "
         "test newly fails.\n\n"
         "      --fail-over=PERCENT  exit with 1 also if a span or kernel is "
         "slower or more\n"
         "                           frequent by more than that, such as 10%\n"
         "      --any-flavour        compare the times of builds of "
         "different flavours, too\n"
         "      --json               print one JSON object\n"
         "  -h, --help               print this");
}

/* ---- As text ---- */

static void put_line(struct trace_text *line)
{
    struct trace_text plain = {0};

    log_plain(&plain, line->data ? line->data : "", line->size);
    puts(plain.data ? plain.data : "");
    trace_text_free(&plain);
    trace_text_free(line);
}

static void put_run(const char *title, const struct test_log_run *run,
                    uint64_t time)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "%s: %s", title, runners_name_of(run->path));
    if (time)
        trace_text_printf(&line, " (%.2f s)", (double)time / 1e9);
    put_line(&line);
}

static bool has_programs(const struct test_log_run *run)
{
    for (size_t i = 1; i < run->count; i++)
        if (strcmp(run->results[0].program, run->results[i].program) != 0)
            return true;
    return false;
}

static void add_name(struct trace_text *line,
                     const struct test_log_result *result, bool programs)
{
    trace_text_printf(line, "%s%s%s", programs ? result->program : "",
                      programs ? " " : "", test_log_name(result));
}

/* Adds ": why", only its first line; `why` may be NULL. */
static void add_reason(struct trace_text *line, const char *why)
{
    size_t size = why ? strcspn(why, "\n") : 0;

    if (size)
        trace_text_printf(line, ": %.*s%s", (int)size, why,
                          why[size] ? " ..." : "");
}

/* Begins with the place, which editors jump to. */
static void put_failing(const struct change *change, bool programs)
{
    struct test_log_place place = test_log_place_of(change->after);
    struct trace_text line = {0};

    if (place.size)
        trace_text_printf(&line, "%.*s:%u: ", (int)place.size, place.file,
                          place.line);
    add_name(&line, change->after, programs);
    trace_text_printf(&line, ": %s",
                      test_log_outcome_text(change->after->outcome));
    add_reason(&line, place.why);
    put_line(&line);
}

static void add_outcomes(struct trace_text *line, const struct change *change)
{
    if (change->before)
        trace_text_printf(line, ": %s",
                          test_log_outcome_text(change->before->outcome));
    if (change->before && change->after)
        trace_text_printf(line, " -> %s",
                          test_log_outcome_text(change->after->outcome));
}

static void add_times(struct trace_text *line, const struct change *change)
{
    trace_text_printf(line, ": %.2f s -> %.2f s (earlier passes: at %s %.2f s)",
                      (double)change->before->duration / 1e9,
                      (double)change->after->duration / 1e9,
                      change->kind == CHANGE_SLOWER ? "most" : "least",
                      (double)change->bound / 1e9);
}

static void put_change(const struct change *change, bool programs)
{
    struct trace_text line = {0};

    trace_text_string(&line, "    ");
    add_name(&line, change->after ? change->after : change->before, programs);
    if (change->kind == CHANGE_SLOWER || change->kind == CHANGE_FASTER)
        add_times(&line, change);
    else if (change->kind == CHANGE_OTHER_OUTCOME)
        add_outcomes(&line, change);
    put_line(&line);
}

static void put_kind(const struct compared *compared, enum change_kind kind,
                     bool programs)
{
    const struct changes *changes = &compared->changes;
    size_t count = 0;

    if (!changes->counts[kind])
        return;
    printf("\n%s:\n", runners_change_kinds[kind].text);
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->all[i].kind != kind)
            continue;
        if (kind == CHANGE_NEWLY_FAILING)
            put_failing(&changes->all[i], programs);
        else if (count++ < SHOWN_MOST)
            put_change(&changes->all[i], programs);
    }
    if (count > SHOWN_MOST)
        printf("    and %zu more\n", count - SHOWN_MOST);
}

/* ---- Spans and kernels as text ---- */

static void add_shape(struct trace_text *line, const struct sum *sum)
{
    static const char *const names[STAT_TEXTS] = {
        [STAT_GRID] = "grid", [STAT_BLOCK] = "block"};

    for (int i = 0; i < STAT_TEXTS; i++)
        if (names[i] && sum->texts[i])
            trace_text_printf(line, " %s=%s", names[i], sum->texts[i]);
}

static void add_slower(struct trace_text *line, const struct slowdown *one)
{
    log_duration(line, (uint64_t)one->before->durations.mean);
    trace_text_string(line, " -> ");
    log_duration(line, (uint64_t)one->after->durations.mean);
    trace_text_printf(line, ", %.2f times as long", one->ratio);
    if (one->noise > 0)
        trace_text_printf(line, " (noise: %.2f)", one->noise);
}

static void put_slowdown(const struct slowdown *one)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "    %s", one->after->texts[STAT_NAME]);
    add_shape(&line, one->after);
    trace_text_string(&line, ": ");
    if (one->frequent)
        trace_text_printf(&line, "%llu -> %llu calls, %.2f times as many",
                          (unsigned long long)one->before->durations.count,
                          (unsigned long long)one->after->durations.count,
                          one->ratio);
    else
        add_slower(&line, one);
    put_line(&line);
}

static void put_slowdowns(const struct slowdowns *slowdowns, bool frequent,
                          const char *title)
{
    size_t count = 0;

    for (size_t i = 0; i < slowdowns->count; i++) {
        if (slowdowns->all[i].frequent != frequent)
            continue;
        if (!count)
            printf("\n%s:\n", title);
        if (count++ < SHOWN_MOST)
            put_slowdown(&slowdowns->all[i]);
    }
    if (count > SHOWN_MOST)
        printf("    and %zu more\n", count - SHOWN_MOST);
}

static void put_flavours(const struct compared *compared)
{
    if (compared->apart)
        test_log_notice("diff: only results are compared, because the builds "
                        "differ: %s, then %s; --any-flavour compares times, "
                        "too",
                        test_log_run_flavour(&compared->before),
                        test_log_run_flavour(&compared->after));
}

static void put_sums(const struct changes *changes)
{
    printf("\n%zu %s", changes->counts[CHANGE_NEWLY_FAILING],
           runners_change_kinds[CHANGE_NEWLY_FAILING].text);
    for (int kind = CHANGE_NEWLY_FAILING + 1; kind < CHANGE_KINDS; kind++)
        if (changes->counts[kind])
            printf(", %zu %s", changes->counts[kind],
                   runners_change_kinds[kind].text);
    putchar('\n');
}

static void put_text(const struct compared *compared)
{
    const struct changes *changes = &compared->changes;
    bool programs =
        has_programs(&compared->before) || has_programs(&compared->after);

    put_run("old", &compared->before, compared->times[0]);
    put_run("new", &compared->after, compared->times[1]);
    for (int kind = 0; kind < CHANGE_UNCHANGED; kind++)
        put_kind(compared, (enum change_kind)kind, programs);
    put_slowdowns(&compared->spans, false, "slower spans");
    put_slowdowns(&compared->spans, true, "more frequent spans");
    put_slowdowns(&compared->kernels, false, "slower kernels");
    put_slowdowns(&compared->kernels, true, "more frequent kernels");
    put_sums(changes);
    if (changes->counts[CHANGE_GONE] == compared->before.count)
        test_log_notice("diff: no test ran in both runs");
}

/* ---- As JSON ---- */

#define SIDE_MEMBERS(X)                                                        \
    X(NULL, "outcome", TEXT, test_log_outcome_word(result->outcome))           \
    X(NULL, "reason", TEXT, result->reason)                                    \
    X(NULL, "duration_ns", TIME, result->duration)

#define CHANGE_MEMBERS(X)                                                      \
    X(NULL, "change", TEXT, runners_change_kinds[change->kind].word)           \
    X(NULL, "program", TEXT, result->program)                                  \
    X(NULL, "name", TEXT, test_log_name(result))                               \
    X(NULL, "old", OBJECT, json_of_side(change->before))                       \
    X(NULL, "new", OBJECT, json_of_side(change->after))                        \
    X(NULL, "bound_ns", SOME_TIME, change->bound)

#define CALLS_MEMBERS(X)                                                       \
    X(NULL, "count", COUNT, durations->count)                                  \
    X(NULL, "average_ns", TIME, durations->mean)

#define SLOWDOWN_MEMBERS(X)                                                    \
    X(NULL, "change", TEXT, one->frequent ? "more-frequent" : "slower")        \
    X(NULL, "name", TEXT, one->after->texts[STAT_NAME])                        \
    X(NULL, "grid", SOME_TEXT, one->after->texts[STAT_GRID])                   \
    X(NULL, "block", SOME_TEXT, one->after->texts[STAT_BLOCK])                 \
    X(NULL, "old", OBJECT, json_of_calls(&one->before->durations))             \
    X(NULL, "new", OBJECT, json_of_calls(&one->after->durations))              \
    X(NULL, "ratio", RATIO, one->ratio)                                        \
    X(NULL, "noise", SOME_RATIO, one->noise)

static cJSON *json_of_side(const struct test_log_result *result)
{
    return result ? RUNNERS_ROW_OBJECT(SIDE_MEMBERS) : NULL;
}

static cJSON *json_of_changes(const struct changes *changes)
{
    struct runners_table table;

    runners_table_begin(&table, RUNNERS_COLUMNS(CHANGE_MEMBERS),
                        RUNNERS_AS_JSON);
    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->all[i];
        const struct test_log_result *result =
            change->after ? change->after : change->before;

        if (change->kind != CHANGE_UNCHANGED)
            runners_table_add(&table, RUNNERS_CELLS(CHANGE_MEMBERS));
    }
    return table.rows;
}

static cJSON *json_of_calls(const struct percentiles *durations)
{
    return RUNNERS_ROW_OBJECT(CALLS_MEMBERS);
}

static cJSON *json_of_slowdowns(const struct slowdowns *slowdowns)
{
    struct runners_table table;

    runners_table_begin(&table, RUNNERS_COLUMNS(SLOWDOWN_MEMBERS),
                        RUNNERS_AS_JSON);
    for (size_t i = 0; i < slowdowns->count; i++) {
        const struct slowdown *one = &slowdowns->all[i];

        runners_table_add(&table, RUNNERS_CELLS(SLOWDOWN_MEMBERS));
    }
    return table.rows;
}

static void put_json(const struct compared *compared)
{
    cJSON *document = cJSON_CreateObject();

    cJSON_AddNumberToObject(document, "schema", 1);
    runners_json_add_text(document, "old",
                          runners_name_of(compared->before.path));
    runners_json_add_text(document, "new",
                          runners_name_of(compared->after.path));
    cJSON_AddItemToObject(document, "changes",
                          json_of_changes(&compared->changes));
    cJSON_AddItemToObject(document, "spans",
                          json_of_slowdowns(&compared->spans));
    cJSON_AddItemToObject(document, "kernels",
                          json_of_slowdowns(&compared->kernels));
    runners_json_print(document);
    cJSON_Delete(document);
}

/* ---- Arguments ---- */

static int code_of(const struct compared *compared,
                   const struct settings *settings)
{
    bool failed = compared->changes.counts[CHANGE_NEWLY_FAILING];

    if (settings->fails)
        failed |= compared->spans.count || compared->kernels.count;
    return failed ? TEST_LOG_FAILED : TEST_LOG_PASSED;
}

static int compare(const char *before, const char *after,
                   const struct settings *settings)
{
    const struct recorded_runs runs = {.command = "diff",
                                       .paths = {before, after},
                                       .any_flavour = settings->any_flavour};
    struct compared compared;
    int code = TEST_LOG_USAGE;

    if (!runners_compared_read(&compared, &runs, settings->over)) {
        put_flavours(&compared);
        if (settings->json)
            put_json(&compared);
        else
            put_text(&compared);
        code = runners_written("diff", code_of(&compared, settings));
    }
    runners_compared_free(&compared);
    return code;
}

/* Adds a run's programs to a table, or tells whether the table has one. */
static bool meet_programs(struct trace_table *programs, const char *path,
                          bool add)
{
    struct test_log_run run = {.path = strdup(path)};
    struct run_file *file =
        run.path ? runners_run_file_open(&run, "run.json") : NULL;
    bool met = false;
    cJSON *test;

    while (file && (test = runners_run_file_next(file))) {
        const char *program = runners_json_text(test, "program");
        uint64_t hash = trace_hash_string(TRACE_HASH, program ? program : "");
        uintptr_t unused;

        if (add)
            trace_table_set(programs, hash, 0);
        else
            met |= trace_table_find(programs, hash, &unused);
        cJSON_Delete(test);
    }
    runners_run_file_close(file);
    free(run.path);
    return met;
}

/* Finds the last run before the latest that has one of its programs; if there
 * is none, the run before. */
static bool find_previous(const char *dir, char *path)
{
    struct trace_table programs = {0};
    char word[32] = "latest";
    bool met = false;

    if (runners_find_run(dir, word, path))
        meet_programs(&programs, path, true);
    for (unsigned before = 1; !met; before++) {
        snprintf(word, sizeof(word), "latest~%u", before);
        if (!runners_find_run(dir, word, path))
            break;
        met = meet_programs(&programs, path, false);
    }
    trace_table_free(&programs);
    return met || runners_find_run(dir, "latest~1", path);
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

static int compare_named(char **words, const struct settings *settings)
{
    const char *before = words[0] ? words[0] : "latest~1";
    const char *after = words[0] && words[1] ? words[1] : "latest";
    char paths[2][PATH_MAX], *no_folder[] = {NULL};
    struct test_log_options options;
    int code = TEST_LOG_USAGE;

    if (words[0] && words[1] && words[2]) {
        test_log_notice("diff: two runs are enough; leave out %s", words[2]);
        return code;
    }
    if (runners_settings(&options, "diff", no_folder))
        return code;
    if (((!words[0] && find_previous(options.dir, paths[0])) ||
         find(options.dir, before, paths[0])) &&
        find(options.dir, after, paths[1]))
        code = compare(paths[0], paths[1], settings);
    test_log_options_free(&options);
    return code;
}

/* Reads "10%" or "10". */
static int read_percent(struct settings *settings, const char *text)
{
    char *end;
    double percent = strtod(text, &end);

    if (end == text || (*end && strcmp(end, "%") != 0) ||
        !(percent >= 0 && percent <= 1e6)) {
        test_log_notice("diff: --fail-over needs a percentage such as 10%%, "
                        "not \"%s\"",
                        text);
        return -1;
    }
    settings->fails = true;
    settings->over = percent / 100;
    return 0;
}

int runners_diff(int argc, char **argv)
{
    static const struct option options[] = {
        {"fail-over", required_argument, NULL, 'o'},
        {"any-flavour", no_argument, NULL, 'a'},
        {"json", no_argument, NULL, 'j'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    struct settings settings = {.over = RUNNERS_OVER_LEAST};
    int flag;

    opterr = 0;
    while ((flag = getopt_long(argc, argv, ":h", options, NULL)) >= 0) {
        if (flag == 'h') {
            usage();
            return TEST_LOG_PASSED;
        }
        if (flag == '?' || flag == ':')
            return runners_refuse_flag("diff", flag, argv, options);
        if (flag == 'j')
            settings.json = true;
        else if (flag == 'a')
            settings.any_flavour = true;
        else if (read_percent(&settings, optarg))
            return TEST_LOG_USAGE;
    }
    return compare_named(argv + optind, &settings);
}
