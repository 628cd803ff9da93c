/* judge_commit.c: runs the commands of a bisection at a commit, and judges it.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>

#include "bisect.h"
#include "harness/machine/notice.h"
#include "harness/run/model/model.h"
#include "runners/diff/compared.h"
#include "runners/runs/find.h"
#include "runners/runs/run_json.h"

enum {
    GOOD_RUNS = 3, /* that others are compared with, unless they are exact */
    RUNS_MOST = 5, /* of a commit whose times are too noisy to tell */
    LOG_MOST = 1 << 26, /* bytes that are searched */
};

/* ---- Running ---- */

/* One shell runs all, for commands such as `cd` and `export`. A commit at which
 * the commands before the last one fail is skipped. */
static int run_commands(const struct bisect *bisect)
{
    const char *words[] = {"sh", "-c", bisect->last, NULL};
    char *script = NULL;
    int code = -1;

    if (!*bisect->before)
        return runners_tool_wait(words, NULL, 0, false);
    if (asprintf(&script, "{\n%s\n} || exit %d\n%s", bisect->before,
                 BISECT_SKIPPED, bisect->last) >= 0) {
        words[2] = script;
        code = runners_tool_wait(words, NULL, 0, false);
        free(script);
    }
    return code;
}

static void folder_of(const struct bisect *bisect, const char *commit,
                      char *path)
{
    snprintf(path, PATH_MAX, "%s/%s", bisect->folder, commit);
}

/* Writes the path of a commit's run that is `back` runs before the last one. */
static bool find_run(const struct bisect *bisect, const char *commit,
                     unsigned back, char *path)
{
    char folder[PATH_MAX], word[32];

    folder_of(bisect, commit, folder);
    snprintf(word, sizeof(word), "latest~%u", back);
    return runners_find_run(folder, back ? word : "latest", path);
}

bool runners_bisect_run_of(const struct bisect *bisect, const char *commit,
                           char *path)
{
    return find_run(bisect, commit, 0, path);
}

/* ---- fails ---- */

/* Reads the tests of a run; false if it has none, or has not ended. */
static bool read_run(struct test_log_run *run, const char *path)
{
    cJSON *head;
    int status;

    *run = (struct test_log_run){.path = NULL};
    status = runners_read_run(run, path, &head);
    cJSON_Delete(head);
    return !status && !run->unfinished && run->count;
}

/* 2 is a bad flag, or a test that this commit does not have. */
static enum bisect_verdict judge_results(const struct bisect *bisect,
                                         const char *commit, int code)
{
    struct test_log_run run = {.path = NULL};
    char path[PATH_MAX];
    bool some;

    if (code != 2 && code != 126 && code != 127)
        return code ? BISECT_BAD : BISECT_GOOD;
    some = find_run(bisect, commit, 0, path) && read_run(&run, path);
    test_log_run_free(&run);
    return some ? BISECT_BAD : BISECT_SKIPPED;
}

/* ---- logs ---- */

static enum bisect_verdict judge_lines(const struct bisect *bisect,
                                       const char *commit)
{
    char path[PATH_MAX], *lines = malloc(LOG_MOST);
    const char *const words[] = {"/proc/self/exe", "log",           path,
                                 "--filter=trace", "--color=never", NULL};
    enum bisect_verdict verdict = BISECT_SKIPPED;

    if (lines && find_run(bisect, commit, 0, path) &&
        !runners_tool_wait(words, lines, LOG_MOST, true))
        verdict = strstr(lines, bisect->text) ? BISECT_BAD : BISECT_GOOD;
    free(lines);
    return verdict;
}

/* ---- slower ---- */

/* Fills the paths of a commit's runs; false if it has none. */
static bool find_runs(struct run_paths *paths, const struct bisect *bisect,
                      const char *commit)
{
    char path[PATH_MAX];

    *paths = (struct run_paths){.all = NULL};
    while (paths->count < RUNS_MOST &&
           find_run(bisect, commit, (unsigned)paths->count, path) &&
           !runners_paths_add(paths, path))
        continue;
    return paths->count;
}

/* The verdicts of everything that was compared, or of one span. */
struct found {
    bool slower, noisy, some;
};

static void note(struct found *found, const struct judgement *judgement,
                 double over)
{
    found->some = true;
    found->slower |= judgement->verdict == VERDICT_SLOWER;
    found->noisy |= runners_may_be_slower(judgement, over);
}

static void note_all(struct found *found, const struct slowdowns *slowdowns,
                     const char *span, double over)
{
    for (size_t i = 0; i < slowdowns->count; i++) {
        const struct slowdown *one = &slowdowns->all[i];

        if (!one->frequent &&
            (!span || !strcmp(span, one->after->texts[STAT_NAME])))
            note(found, &one->judgement, over);
    }
}

static struct found compare_by(enum measure by, struct run_paths sides[2],
                               const char *span)
{
    const struct recorded_runs runs = {
        .command = "bisect", .sides = {sides[0], sides[1]}, .by = by};
    double over = runners_over_least(by);
    struct compared compared;
    struct found found = {false, false, false};

    if (!runners_compared_read(&compared, &runs, over)) {
        const struct changes *changes = &compared.changes;

        for (size_t i = 0; !span && i < changes->count; i++)
            if (changes->all[i].judged)
                note(&found, &changes->all[i].judgement, over);
        note_all(&found, &compared.spans, span, over);
        note_all(&found, &compared.kernels, span, over);
    }
    runners_compared_free(&compared);
    return found;
}

enum measure runners_bisect_measure(const struct bisect *bisect,
                                    const char *commit)
{
    struct test_log_run run = {.path = NULL};
    enum measure by = MEASURE_TIME;
    char path[PATH_MAX];

    if (find_run(bisect, commit, 0, path) && read_run(&run, path))
        for (size_t i = 0; i < run.count; i++)
            if (run.results[i].usage.instructions)
                by = MEASURE_INSTRUCTIONS;
    test_log_run_free(&run);
    return by;
}

static struct found compare(const struct bisect *bisect, const char *commit,
                            enum measure by)
{
    struct run_paths sides[2] = {{.all = NULL}, {.all = NULL}};
    struct found found = {false, false, false};

    if (find_runs(&sides[0], bisect, bisect->good) &&
        find_runs(&sides[1], bisect, commit))
        found = compare_by(by, sides, bisect->text);
    for (int i = 0; i < 2; i++)
        runners_paths_free(&sides[i]);
    return found;
}

/* Counts are exact; other commits are compared with several runs. */
static enum bisect_verdict run_good(const struct bisect *bisect)
{
    enum measure by = runners_bisect_measure(bisect, bisect->good);

    for (int runs = 1; runs < GOOD_RUNS && by == MEASURE_TIME; runs++) {
        run_commands(bisect);
        if (runners_tool_signal())
            return BISECT_STOPPED;
    }
    return BISECT_GOOD;
}

static enum bisect_verdict judge_times(const struct bisect *bisect,
                                       const char *commit)
{
    enum measure by = runners_bisect_measure(bisect, commit);
    struct found found = compare(bisect, commit, by);

    for (int runs = 1;
         runs < RUNS_MOST && by == MEASURE_TIME && found.noisy && !found.slower;
         runs++) {
        run_commands(bisect);
        if (runners_tool_signal())
            return BISECT_STOPPED;
        found = compare(bisect, commit, by);
    }
    if (!found.some)
        test_log_notice("bisect: %s%s was not measured at both %.12s and %.12s",
                        bisect->text ? "span " : "no test or span",
                        bisect->text ? bisect->text : "", bisect->good, commit);
    if (!found.some || (found.noisy && !found.slower))
        return BISECT_SKIPPED;
    return found.slower ? BISECT_BAD : BISECT_GOOD;
}

/* ---- A commit ---- */

static enum bisect_verdict judge(const struct bisect *bisect,
                                 const char *commit, const char *folder)
{
    int code = run_commands(bisect);
    char path[PATH_MAX];

    if (runners_tool_signal())
        return BISECT_STOPPED;
    if (code < 0 || code == BISECT_SKIPPED)
        return BISECT_SKIPPED;
    if (bisect->when == BISECT_FAILS)
        return judge_results(bisect, commit, code);
    if (!find_run(bisect, commit, 0, path)) {
        test_log_notice("bisect: the command has made no run in %s; leave out "
                        "--trace-dir, and build with TRACING",
                        folder);
        return BISECT_SKIPPED;
    }
    if (bisect->when == BISECT_LOGS)
        return judge_lines(bisect, commit);
    return strcmp(commit, bisect->good) != 0 ? judge_times(bisect, commit)
                                             : run_good(bisect);
}

/* The tree was clean, so that what differs now is the command's. */
static void undo_changes(void)
{
    static const char *const words[] = {"git",     "reset", "--hard",
                                        "--quiet", "HEAD",  NULL};

    runners_tool_wait(words, NULL, 0, false);
}

const char *runners_bisect_word(enum bisect_verdict verdict)
{
    return verdict == BISECT_GOOD      ? "good"
           : verdict == BISECT_BAD     ? "bad"
           : verdict == BISECT_SKIPPED ? "skipped"
                                       : "not judged";
}

enum bisect_verdict runners_bisect_judge(const struct bisect *bisect,
                                         const char *commit)
{
    enum bisect_verdict verdict;
    char folder[PATH_MAX];

    folder_of(bisect, commit, folder);
    setenv("TRACE_DIR", folder, 1);
    if (chdir(bisect->place))
        return BISECT_SKIPPED; /* this commit does not have the folder */
    verdict = judge(bisect, commit, folder);
    undo_changes();
    test_log_notice("bisect: %.12s is %s", commit,
                    runners_bisect_word(verdict));
    return verdict;
}
