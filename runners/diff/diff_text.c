/* diff_text.c: prints what differs between two sides as text. */
#include <stdlib.h>
#include <string.h>

#include "diff.h"
#include "harness/machine/notice.h"
#include "log/devices/device_summary.h"
#include "log/replay/replay.h"
#include "runners/runs/find.h"
#include "trace/base/containers.h"
#include "trace/base/strings.h"

enum { SHOWN_MOST = 20 /* of a kind, except newly failing tests */ };

static void put_line(struct trace_text *line)
{
    struct trace_text plain = {0};

    log_plain(&plain, line->data ? line->data : "", line->size);
    puts(plain.data ? plain.data : "");
    trace_text_free(&plain);
    trace_text_free(line);
}

static void put_run(const char *title, const struct run_paths *paths,
                    uint64_t time)
{
    struct trace_text line = {0};

    trace_text_printf(&line, "%s: ", title);
    for (size_t i = 0; i < paths->count; i++)
        trace_text_printf(&line, "%s%s", i ? ", " : "",
                          runners_name_of(paths->all[i]));
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
                      programs ? " " : "", test_log_title(result));
}

/* Begins with the place, which editors jump to, and ends with the first line of
 * the reason. */
static void put_failing(const struct change *change, bool programs)
{
    struct test_log_place place = test_log_place_of(change->after);
    size_t size = place.why ? strcspn(place.why, "\n") : 0;
    struct trace_text line = {0};

    if (place.size)
        trace_text_printf(&line, "%.*s:%u: ", (int)place.size, place.file,
                          place.line);
    add_name(&line, change->after, programs);
    trace_text_printf(&line, ": %s",
                      test_log_outcome_text(change->after->outcome));
    if (size)
        trace_text_printf(&line, ": %.*s%s", (int)size, place.why,
                          place.why[size] ? " ..." : "");
    put_line(&line);
}

static void add_amount(struct trace_text *line, enum measure by,
                       uint64_t amount)
{
    if (by == MEASURE_MEMORY)
        log_bytes(line, amount);
    else if (by == MEASURE_INSTRUCTIONS)
        trace_text_printf(line, "%llu instructions",
                          (unsigned long long)amount);
    else
        trace_text_printf(line, "%.2f s", (double)amount / 1e9);
}

static void add_medians(struct trace_text *line, enum measure by,
                        const struct judgement *judgement)
{
    trace_text_string(line, ": ");
    add_amount(line, by, (uint64_t)judgement->medians[0]);
    trace_text_string(line, " -> ");
    add_amount(line, by, (uint64_t)judgement->medians[1]);
}

static void put_change(const struct change *change, enum measure by,
                       bool programs)
{
    const struct test_log_result *before = change->before;
    const struct test_log_result *after = change->after;
    struct trace_text line = {0};

    trace_text_string(&line, "    ");
    add_name(&line, after ? after : before, programs);
    if (change->kind == CHANGE_SLOWER || change->kind == CHANGE_FASTER) {
        add_medians(&line, by, &change->judgement);
        trace_text_printf(&line, " (earlier passes: at %s ",
                          change->kind == CHANGE_SLOWER ? "most" : "least");
        add_amount(&line, by, change->bound);
        trace_text_char(&line, ')');
    } else if (change->kind == CHANGE_OTHER_OUTCOME) {
        if (before)
            trace_text_printf(&line, ": %s",
                              test_log_outcome_text(before->outcome));
        if (before && after)
            trace_text_printf(&line, " -> %s",
                              test_log_outcome_text(after->outcome));
    }
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
            put_change(&changes->all[i], changes->by, programs);
    }
    if (count > SHOWN_MOST)
        printf("    and %zu more\n", count - SHOWN_MOST);
}

/* ---- Spans and kernels as text ---- */

/* Counts of instructions are so exact that small changes show. */
static void add_judgement(struct trace_text *line, enum measure by,
                          const struct judgement *judgement)
{
    bool exact = by == MEASURE_INSTRUCTIONS;
    int digits = exact ? 4 : 2;

    trace_text_printf(line, "%.*f times as %s", digits, judgement->ratio,
                      exact                  ? "many"
                      : by == MEASURE_MEMORY ? "much"
                                             : "long");
    if (judgement->noise > 0)
        trace_text_printf(line, " (noise: %.*f)", digits, judgement->noise);
    if (judgement->by_mean)
        trace_text_string(line, ", by the mean of all calls");
    if (judgement->verdict == VERDICT_TOO_NOISY && judgement->more_runs)
        trace_text_printf(line, "; %u%s more run%s of each side would tell",
                          judgement->more_runs,
                          judgement->more_runs == JUDGE_MORE_MOST ? " or" : "",
                          judgement->more_runs == 1 ? "" : "s");
}

static void add_number(struct trace_text *line, enum measure by,
                       uint64_t number)
{
    if (by == MEASURE_INSTRUCTIONS)
        trace_text_printf(line, "%llu", (unsigned long long)number);
    else
        log_duration(line, number);
}

static void put_slowdown(const struct slowdown *one, enum measure by)
{
    static const char *const shapes[STAT_TEXTS] = {
        [STAT_GRID] = "grid", [STAT_BLOCK] = "block"};
    const struct percentiles *old = &one->before->durations;
    const struct percentiles *new = &one->after->durations;
    char *const *texts = one->after->texts;
    struct trace_text line = {0};

    trace_text_printf(&line, "    %s", texts[STAT_NAME]);
    for (int i = 0; i < STAT_TEXTS; i++)
        if (shapes[i] && texts[i])
            trace_text_printf(&line, " %s=%s", shapes[i], texts[i]);
    trace_text_string(&line, ": ");
    if (one->frequent) {
        trace_text_printf(&line, "%llu -> %llu calls, %.2f times as many",
                          (unsigned long long)old->count,
                          (unsigned long long)new->count, one->times);
    } else {
        add_number(&line, by, (uint64_t)(one->judgement.medians[0] + 0.5));
        trace_text_string(&line, " -> ");
        add_number(&line, by, (uint64_t)(one->judgement.medians[1] + 0.5));
        trace_text_string(&line, ", ");
        add_judgement(&line, by, &one->judgement);
    }
    put_line(&line);
}

static bool is_slower(const struct slowdown *one, double over)
{
    (void)over;
    return !one->frequent && one->judgement.verdict == VERDICT_SLOWER;
}

static bool is_frequent(const struct slowdown *one, double over)
{
    (void)over;
    return one->frequent;
}

static bool is_noisy(const struct slowdown *one, double over)
{
    return !one->frequent && runners_may_be_slower(&one->judgement, over);
}

static void put_slowdowns(const struct compared *compared,
                          const struct slowdowns *slowdowns,
                          bool (*is_one)(const struct slowdown *, double over),
                          const char *title)
{
    size_t count = 0;

    for (size_t i = 0; i < slowdowns->count; i++) {
        if (!is_one(&slowdowns->all[i], compared->over))
            continue;
        if (!count)
            printf("\n%s:\n", title);
        if (count++ < SHOWN_MOST)
            put_slowdown(&slowdowns->all[i], slowdowns->by);
    }
    if (count > SHOWN_MOST)
        printf("    and %zu more\n", count - SHOWN_MOST);
}

static bool is_noisy_test(const struct change *change, enum measure by,
                          double over)
{
    const struct judgement *judgement = &change->judgement;

    return change->judged && change->kind == CHANGE_UNCHANGED &&
           runners_may_be_slower(judgement, over) &&
           judgement->medians[1] - judgement->medians[0] >=
               runners_excess_least(by, true);
}

static void put_noisy_tests(const struct compared *compared, bool programs)
{
    const struct changes *changes = &compared->changes;
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++) {
        const struct change *change = &changes->all[i];
        struct trace_text line = {0};

        if (!is_noisy_test(change, changes->by, compared->over))
            continue;
        if (!count)
            puts("\ntests that are too noisy to tell:");
        if (count++ >= SHOWN_MOST)
            continue;
        trace_text_string(&line, "    ");
        add_name(&line, change->after, programs);
        add_medians(&line, changes->by, &change->judgement);
        trace_text_string(&line, ", ");
        add_judgement(&line, changes->by, &change->judgement);
        put_line(&line);
    }
    if (count > SHOWN_MOST)
        printf("    and %zu more\n", count - SHOWN_MOST);
}

static void put_noise(const struct compared *compared)
{
    const size_t counts[] = {compared->changes.verdicts[VERDICT_TOO_NOISY],
                             compared->spans.counts[VERDICT_TOO_NOISY],
                             compared->kernels.counts[VERDICT_TOO_NOISY]};
    static const char *const nouns[] = {"test", "span", "kernel"};
    const char *before = "\ntoo noisy to tell: ";

    for (int i = 0; i < 3; i++) {
        if (!counts[i])
            continue;
        printf("%s%zu %s%s", before, counts[i], nouns[i],
               counts[i] == 1 ? "" : "s");
        before = ", ";
    }
    if (*before == ',')
        puts("; to measure more, use --repeat, or compare more runs: "
             "OLD1,OLD2 NEW1,NEW2");
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

void runners_diff_put_text(const struct compared *compared,
                           const struct recorded_runs *runs)
{
    const struct changes *changes = &compared->changes;
    bool programs =
        has_programs(&compared->before) || has_programs(&compared->after);

    put_run("old", &runs->sides[0], compared->times[0]);
    put_run("new", &runs->sides[1], compared->times[1]);
    if (runs->by != MEASURE_TIME)
        printf("by: %s\n", runners_measure_texts[runs->by]);
    for (int kind = 0; kind < CHANGE_UNCHANGED; kind++)
        put_kind(compared, (enum change_kind)kind, programs);
    put_noisy_tests(compared, programs);
    put_slowdowns(compared, &compared->spans, is_slower, "slower spans");
    put_slowdowns(compared, &compared->spans, is_frequent,
                  "more frequent spans");
    put_slowdowns(compared, &compared->spans, is_noisy,
                  "spans that are too noisy to tell");
    put_slowdowns(compared, &compared->kernels, is_slower, "slower kernels");
    put_slowdowns(compared, &compared->kernels, is_frequent,
                  "more frequent kernels");
    put_slowdowns(compared, &compared->kernels, is_noisy,
                  "kernels that are too noisy to tell");
    put_noise(compared);
    put_sums(changes);
    if (changes->counts[CHANGE_GONE] == compared->before.count)
        test_log_notice("diff: no test ran in both runs");
}
