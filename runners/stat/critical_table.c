/* critical_table.c: prints critical paths as aligned tables, as CSV or as JSON.
 */
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "critical_table.h"
#include "log/replay/replay.h"
#include "runners/runs/find.h"
#include "stat.h"
#include "trace/base/text.h"

enum {
    SHOWN = 50, /* pieces, as text */
    TOP = 3,    /* names of a test */
};

/* As members of JSON. */
static const char *const phase_words[TRACE_PHASE_COUNT] = {
    [TRACE_PHASE_SETUP] = "setup",
    [TRACE_PHASE_BODY] = "body",
    [TRACE_PHASE_TEARDOWN] = "teardown",
};

#define PIECE_COLUMNS(X)                                                       \
    X("Start", "start_ns", TIME, (int64_t)(piece->begin - slices->zero))       \
    X("Duration", "duration_ns", TIME, length_of(piece))                       \
    X("Share", "share_percent", PERCENT, share_of(length_of(piece), slices))   \
    X("Where", "where", TEXT, slices->tracks[piece->track].name)               \
    X("Source", "source", TEXT, source.data)                                   \
    X("Name", "name", TEXT, site ? site->name : nothing)                       \
    X(NULL, "phase", TEXT, phase_words[piece->phase])

#define SUM_COLUMNS(X)                                                         \
    X(NULL, "name", TEXT, sum->name)                                           \
    X("Total", "total_ns", TIME, sum->total)                                   \
    X("Share", "share_percent", PERCENT, share_of(sum->total, slices))         \
    X("Pieces", "pieces", COUNT, sum->pieces)                                  \
    X("Name", NULL, TEXT,                                                      \
      sum->name ? sum->name : trace_phase_label(sum->phase))                   \
    X(NULL, "phase", TEXT, phase_words[sum->phase])

#define TEST_SHARES(X)                                                         \
    X("Duration", "duration_ns", TIME, slices->end - slices->begin)            \
    X("Setup", "setup_ns", TIME, critical->phases[TRACE_PHASE_SETUP])          \
    X("Body", "body_ns", TIME, critical->phases[TRACE_PHASE_BODY])             \
    X("Teardown", "teardown_ns", TIME, critical->phases[TRACE_PHASE_TEARDOWN]) \
    X("Covered", "covered_ns", TIME, critical->covered)                        \
    X("Share", "covered_percent", PERCENT, share_of(critical->covered, slices))

#define TEST_NAMES(X)                                                          \
    X(NULL, "program", TEXT, recording->program)                               \
    X(NULL, "test", TEXT, recording->test)

#define TEST_COLUMNS(X)                                                        \
    TEST_SHARES(X)                                                             \
    X("Test", NULL, TEXT, test.data)                                           \
    X("Longest", "longest", TEXT, top.data)                                    \
    TEST_NAMES(X)

#define TEST_MEMBERS(X) TEST_NAMES(X) TEST_SHARES(X)

static const struct runners_column *const test_columns =
    RUNNERS_COLUMNS(TEST_COLUMNS);
static const struct runners_column *const test_members =
    RUNNERS_COLUMNS(TEST_MEMBERS);

/* ---- Pieces ---- */

static double share_of(uint64_t ns, const struct trace_causes *slices)
{
    uint64_t whole = slices->end - slices->begin;

    return whole ? 100 * (double)ns / (double)whole : 0;
}

static uint64_t length_of(const struct trace_piece *piece)
{
    return piece->end - piece->begin;
}

static const struct trace_site *site_of(const struct trace_causes *slices,
                                        const struct trace_piece *piece)
{
    return piece->slice == TRACE_NO_SLICE ? NULL
                                          : slices->all[piece->slice].site;
}

static int longest_first(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? 1 : x > y ? -1 : 0;
}

/* The longest pieces: all that are longer, and as many of that length. */
struct longest {
    uint64_t length;
    size_t count;
};

static struct longest find_longest(const struct trace_critical *critical)
{
    uint64_t *lengths = calloc(critical->count + 1, sizeof(*lengths));
    struct longest longest = {0, SHOWN};

    for (size_t i = 0; lengths && i < critical->count; i++)
        lengths[i] = length_of(&critical->pieces[i]);
    if (lengths && critical->count > SHOWN) {
        qsort(lengths, critical->count, sizeof(*lengths), longest_first);
        longest.length = lengths[SHOWN - 1];
        for (size_t i = 0; lengths[i] > longest.length; i++)
            longest.count--;
    }
    free(lengths);
    return longest;
}

/* Prints the pieces, or returns their JSON. Text has the longest only. */
static cJSON *put_pieces(const struct trace_causes *slices,
                         const struct trace_critical *critical,
                         enum runners_form form)
{
    struct longest longest = {0, critical->count};
    struct trace_piece_sum hidden = {.pieces = 0};
    struct runners_table table;
    struct trace_text text = {0};

    if (form == RUNNERS_AS_TEXT)
        longest = find_longest(critical);
    runners_table_begin(&table, RUNNERS_COLUMNS(PIECE_COLUMNS), form);
    for (size_t i = 0; i < critical->count; i++) {
        const struct trace_piece *piece = &critical->pieces[i];
        const struct trace_site *site = site_of(slices, piece);
        const char *nothing =
            form == RUNNERS_AS_JSON ? NULL : trace_phase_label(piece->phase);
        bool as_long = length_of(piece) == longest.length;
        struct trace_text source = {0};

        if (length_of(piece) < longest.length || (as_long && !longest.count)) {
            hidden.total += length_of(piece);
            hidden.pieces++;
            continue;
        }
        longest.count -= as_long;
        if (site && !slices->all[piece->slice].activity)
            trace_text_printf(&source, "%s:%u", site->file, site->line);
        runners_table_add(&table, RUNNERS_CELLS(PIECE_COLUMNS));
        trace_text_free(&source);
    }
    runners_table_end(&table);
    if (hidden.pieces) {
        log_duration(&text, hidden.total);
        printf("%zu shorter pieces: %s\n", hidden.pieces,
               text.data ? text.data : "");
        trace_text_free(&text);
    }
    return table.rows;
}

/* Prints the sums, or returns their JSON. */
static cJSON *put_sums(const struct trace_causes *slices,
                       const struct trace_critical *critical,
                       enum runners_form form)
{
    struct runners_table table;

    runners_table_begin(&table, RUNNERS_COLUMNS(SUM_COLUMNS), form);
    for (size_t i = 0; i < critical->sum_count; i++) {
        const struct trace_piece_sum *sum = &critical->sums[i];

        runners_table_add(&table, RUNNERS_CELLS(SUM_COLUMNS));
    }
    runners_table_end(&table);
    return table.rows;
}

/* ---- Tests ---- */

/* Adds a test, with the names with the largest totals, "train 60.1%, saxpy
 * 20.2%". */
static void add_test(struct runners_table *table,
                     const struct recording *recording,
                     const struct trace_causes *slices,
                     const struct trace_critical *critical)
{
    struct trace_text test = {0}, top = {0};
    size_t count = 0;

    for (size_t i = 0; i < critical->sum_count && count < TOP; i++) {
        const struct trace_piece_sum *sum = &critical->sums[i];

        if (!sum->name)
            continue;
        trace_text_printf(&top, "%s%s %.1f%%", count++ ? ", " : "", sum->name,
                          share_of(sum->total, slices));
    }
    trace_text_printf(&test, "%s%s%s", recording->program,
                      *recording->program ? " " : "", recording->test);
    runners_table_add(table, RUNNERS_CELLS(TEST_COLUMNS));
    trace_text_free(&test);
    trace_text_free(&top);
}

static void add_json(struct critical_table *table,
                     const struct recording *recording,
                     const struct trace_causes *slices,
                     const struct trace_critical *critical)
{
    cJSON *test = runners_table_add(&table->tests, RUNNERS_CELLS(TEST_MEMBERS));

    cJSON_AddItemToObject(test, "names",
                          put_sums(slices, critical, RUNNERS_AS_JSON));
    if (!table->several)
        cJSON_AddItemToObject(test, "pieces",
                              put_pieces(slices, critical, RUNNERS_AS_JSON));
}

void runners_critical_put(struct critical_table *table,
                          const struct recording *recording,
                          const struct trace_causes *slices,
                          const struct trace_critical *critical)
{
    bool json = table->form == RUNNERS_AS_JSON;

    if (!table->tests.columns && (json || table->several))
        runners_table_begin(&table->tests, json ? test_members : test_columns,
                            table->form);
    if (json) {
        add_json(table, recording, slices, critical);
    } else if (table->several) {
        add_test(&table->tests, recording, slices, critical);
    } else {
        put_pieces(slices, critical, table->form);
        if (table->form == RUNNERS_AS_CSV)
            return;
        putchar('\n');
        put_sums(slices, critical, table->form);
    }
}

void runners_critical_end(struct critical_table *table, const char *where)
{
    runners_table_end(&table->tests);
    if (table->form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, "critical", table->tests.rows);
}
