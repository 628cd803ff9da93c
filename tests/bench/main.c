/* main.c: measures what testlog costs, as ratios to a lower bound, and compares
 * it with other tracers.
 *
 * The rows of a group are measured in turns. Other work on the machine only
 * adds time, so the result is the ratio of the least times; the median of the
 * ratios of all turns is shown beside it.
 *
 *  bench [--quick] [--alone] [--group=TEXT] [--instructions] [--json=FILE]
 *        [DIRECTORY]
 *
 * Its files go to DIRECTORY: TMPDIR or /tmp by default. --quick does little
 * work, once; --alone leaves out peers; --group measures only the groups whose
 * names have that text; --instructions counts instructions with callgrind.
 *
 *  bench --serve [DIRECTORY]       measures our rows as a peer; see
 * peers/peer.h
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "bench.h"

#include "trace/record/recorder.h"

enum { ROWS_MAX = 96, QUICK = 16 };

struct bench_settings bench_settings = {.events = 1000000};

static char path[PATH_MAX], programs[PATH_MAX];
static const char *json;

void bench_stop(const char *what)
{
    fprintf(stderr, "bench: %s: %s\n", what, strerror(errno));
    exit(1);
}

const char *bench_path(void)
{
    return path;
}

void bench_pin(bool one)
{
    static cpu_set_t all;
    static bool known;
    cpu_set_t last;

    if (!known)
        known = !sched_getaffinity(0, sizeof(all), &all);
    CPU_ZERO(&last);
    for (int i = CPU_SETSIZE; i-- > 0 && !CPU_COUNT(&last);)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &last);
    if (known)
        sched_setaffinity(0, sizeof(all), one ? &last : &all);
}

/* ---- Measuring ---- */

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double median(const double *numbers, int count)
{
    double sorted[BENCH_TIMES_MAX];

    memcpy(sorted, numbers, (size_t)count * sizeof(*sorted));
    qsort(sorted, (size_t)count, sizeof(*sorted), compare);
    return sorted[count / 2];
}

static double least(const double *numbers, int count)
{
    double found = numbers[0];

    for (int i = 1; i < count; i++)
        found = numbers[i] < found ? numbers[i] : found;
    return found;
}

static double once(const struct bench_row *row)
{
    size_t count = row->count;

    if (bench_settings.quick && count > QUICK)
        count /= QUICK;
    return row->run ? row->run(count)
                    : bench_ask_peer(row->peer, row->work, count);
}

/* Returns the row that a row is compared with: `against`, or the first. */
static size_t reference_of(const struct bench_row *rows, size_t count, size_t i)
{
    size_t at = 0;

    while (rows[i].against && at < count &&
           strcmp(rows[at].name, rows[i].against))
        at++;
    return at;
}

static void compare_row(const struct bench_row *rows,
                        struct bench_result *results, size_t count, size_t i)
{
    struct bench_result *result = &results[i];
    const struct bench_result *reference =
        &results[reference_of(rows, count, i)];
    double ratios[BENCH_TIMES_MAX];

    if (!result->there)
        return;
    result->median = median(result->ns, result->times);
    result->least = least(result->ns, result->times);
    if (!reference->there)
        return;
    for (int turn = 0; turn < result->times; turn++)
        ratios[turn] = result->ns[turn] / reference->ns[turn];
    result->ratio = result->least / least(reference->ns, reference->times);
    result->median_ratio = median(ratios, result->times);
}

/* Measures the rows of a group in turns, after a warm-up turn. */
static void measure(const struct bench_row *rows, struct bench_result *results,
                    size_t count)
{
    int times = bench_settings.quick ? 1 : rows->times;

    for (size_t i = 0; i < count; i++)
        results[i] =
            (struct bench_result){.there = once(&rows[i]) >= 0, .times = times};
    for (int turn = 0; turn < times; turn++)
        for (size_t i = 0; i < count; i++) {
            if (results[i].there)
                results[i].ns[turn] = once(&rows[i]);
            if (results[i].ns[turn] < 0)
                results[i].there = false;
        }
    for (size_t i = 0; i < count; i++) {
        compare_row(rows, results, count, i);
        if (bench_settings.instructions && results[i].there)
            results[i].instructions = bench_count_instructions(&rows[i]);
        bench_print_row(&rows[i], &results[i], i == 0);
    }
}

static bool is_wanted(const char *group)
{
    return !bench_settings.group || strstr(group, bench_settings.group);
}

static void measure_all(void)
{
    static struct bench_result results[ROWS_MAX];
    struct bench_size sizes[BENCH_SIZES_MAX];
    size_t at = 0, size_count;

    if (bench_row_count > ROWS_MAX)
        bench_stop("ROWS_MAX");
    bench_print_head();
    while (at < bench_row_count) {
        size_t next = at;

        while (next < bench_row_count &&
               !strcmp(bench_rows[next].group, bench_rows[at].group))
            next++;
        if (is_wanted(bench_rows[at].group))
            measure(&bench_rows[at], &results[at], next - at);
        at = next;
    }
    if (is_wanted("sizes"))
        puts("-- sizes");
    size_count = is_wanted("sizes") ? bench_measure_sizes(sizes) : 0;
    for (size_t i = 0; i < size_count; i++)
        bench_print_size(&sizes[i]);
    bench_free_events();
    bench_end_peers();
    if (json)
        bench_write_json(json, results, sizes, size_count);
    puts("The ratios of the least times are what counts; ns are for "
         "orientation.");
}

/* ---- Arguments ---- */

static int serve_ours(void)
{
    struct work works[ROWS_MAX];
    size_t count = 0;

    for (size_t i = 0; i < bench_row_count; i++)
        if (bench_rows[i].run)
            works[count++] =
                (struct work){bench_rows[i].work, bench_rows[i].run};
    return serve(works, count);
}

static void name_files(const char *program)
{
    const char *directory = bench_settings.directory;

    if (!directory)
        directory = getenv("TMPDIR");
    if (!directory || !*directory)
        directory = "/tmp";
    bench_settings.directory = directory;
    snprintf(path, sizeof(path), "%s/testlog-bench-%d", directory,
             (int)getpid());
    if (!realpath("/proc/self/exe", programs))
        bench_stop(program);
    bench_settings.programs = dirname(programs);
}

/* Names the file to which testlog and the peers write lines. */
static void name_scratch(void)
{
    char scratch[PATH_MAX + 8];

    snprintf(scratch, sizeof(scratch), "%s-lines", path);
    setenv("BENCH_FILE", scratch, 1);
}

static void quicken(void)
{
    bench_settings.quick = true;
    bench_settings.events /= QUICK;
}

int main(int argc, char **argv)
{
    bool serves = false;

    for (int i = 1; i < argc; i++) {
        if (!strcmp(argv[i], "--quick"))
            quicken();
        else if (!strcmp(argv[i], "--instructions"))
            bench_settings.instructions = true;
        else if (!strcmp(argv[i], "--alone"))
            bench_settings.alone = true;
        else if (!strcmp(argv[i], "--serve"))
            serves = true;
        else if (!strncmp(argv[i], "--group=", 8))
            bench_settings.group = argv[i] + 8;
        else if (!strncmp(argv[i], "--json=", 7))
            json = argv[i] + 7;
        else
            bench_settings.directory = argv[i];
    }
    name_files(argv[0]);
    trace_clock_choose();
    if (serves)
        return serve_ours();
    signal(SIGPIPE, SIG_IGN); /* a peer may have ended */
    name_scratch();
    bench_pin(true);
    measure_all();
    bench_suite_end();
    bench_merge_end();
    unlink(getenv("BENCH_FILE"));
    return 0;
}
