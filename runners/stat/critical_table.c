/* critical_table.c: prints critical paths as aligned tables, as CSV or as JSON.
 */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "critical.h"
#include "log/replay/replay.h"
#include "runners/find/find.h"
#include "runners/find/run_json.h"
#include "stat.h"
#include "trace/base/text.h"

enum {
    SHOWN = 50, /* pieces, as text */
    TOP = 3,    /* names of a test */
};

#define NOTHING "(nothing recorded)"

/* ---- Grids ---- */

/* The titles of a grid. Numbers come first and are aligned at the right. */
struct titles {
    size_t numbers, count;
    const char *all[6];
};

static const struct titles of_pieces = {
    3, 6, {"Start", "Duration", "Share", "Where", "Source", "Name"}};
static const struct titles of_sums = {
    3, 4, {"Total", "Share", "Pieces", "Name"}};
static const struct titles of_tests = {
    3, 5, {"Duration", "Covered", "Share", "Test", "Longest"}};

/* A grid without memory lacks cells. */
static void add_cell(struct critical_grid *grid, const char *text)
{
    if (TRACE_ARRAY_RESERVE(grid->cells, grid->capacity, grid->count + 1))
        grid->cells[grid->count++] = strdup(text);
}

static const char *cell_at(const struct critical_grid *grid, size_t at)
{
    const char *cell = at < grid->count ? grid->cells[at] : NULL;

    return cell ? cell : "";
}

static void add_duration(struct critical_grid *grid, uint64_t ns)
{
    struct trace_text text = {0};

    log_duration(&text, ns);
    add_cell(grid, text.data ? text.data : "");
    trace_text_free(&text);
}

static double share_of(uint64_t ns, uint64_t whole)
{
    return whole ? 100 * (double)ns / (double)whole : 0;
}

static void add_share(struct critical_grid *grid, uint64_t ns, uint64_t whole)
{
    char text[16];

    snprintf(text, sizeof(text), "%.1f%%", share_of(ns, whole));
    add_cell(grid, text);
}

/* Adds text that may contain anything. */
static void add_plain(struct critical_grid *grid, const char *string)
{
    struct trace_text text = {0};

    log_plain(&text, string, strlen(string));
    add_cell(grid, text.data ? text.data : "");
    trace_text_free(&text);
}

static void begin_grid(struct critical_grid *grid, const struct titles *titles)
{
    for (size_t i = 0; i < titles->count; i++)
        add_cell(grid, titles->all[i]);
}

static size_t widest_in(const struct critical_grid *grid, size_t columns,
                        size_t column)
{
    size_t widest = 0;

    for (size_t i = column; i < grid->count; i += columns) {
        const char *cell = cell_at(grid, i);
        size_t width = runners_stat_width(cell, strlen(cell));

        widest = width > widest ? width : widest;
    }
    return widest;
}

/* The last column is not padded. */
static void put_grid(struct critical_grid *grid, const struct titles *titles)
{
    size_t widths[6] = {0}, columns = titles->count;

    for (size_t i = 0; i < columns; i++)
        widths[i] = widest_in(grid, columns, i);
    for (size_t i = 0; i < grid->count; i++) {
        const char *cell = cell_at(grid, i);
        size_t column = i % columns;
        int padding =
            (int)(widths[column] - runners_stat_width(cell, strlen(cell)));

        if (column + 1 == columns)
            puts(cell);
        else if (column < titles->numbers)
            printf("%*s%s  ", padding, "", cell);
        else
            printf("%s%*s  ", cell, padding, "");
    }
    for (size_t i = 0; i < grid->count; i++)
        free(grid->cells[i]);
    free(grid->cells);
    *grid = (struct critical_grid){.count = 0};
}

/* ---- Pieces ---- */

static uint64_t length_of(const struct piece *piece)
{
    return piece->end - piece->begin;
}

static const struct trace_site *site_of(const struct slices *slices,
                                        const struct piece *piece)
{
    return piece->slice == SLICES_NONE ? NULL : slices->all[piece->slice].site;
}

/* The place of a span, as "file:line"; the caller frees it. */
static struct trace_text source_of(const struct slices *slices,
                                   const struct piece *piece)
{
    const struct trace_site *site = site_of(slices, piece);
    struct trace_text text = {0};

    if (site && !slices->all[piece->slice].activity)
        trace_text_printf(&text, "%s:%u", site->file, site->line);
    return text;
}

static const char *name_of(const struct slices *slices,
                           const struct piece *piece)
{
    const struct trace_site *site = site_of(slices, piece);

    return site ? site->name : NOTHING;
}

/* ---- As text ---- */

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

static struct longest find_longest(const struct critical *critical)
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

/* Returns whether a piece is shown; each one is asked once. */
static bool is_shown(struct longest *longest, const struct piece *piece)
{
    if (length_of(piece) != longest->length)
        return length_of(piece) > longest->length;
    if (!longest->count)
        return false;
    longest->count--;
    return true;
}

static void add_piece(struct critical_grid *grid, const struct slices *slices,
                      const struct piece *piece)
{
    struct trace_text source = source_of(slices, piece);

    add_duration(grid, piece->begin - slices->begin);
    add_duration(grid, length_of(piece));
    add_share(grid, length_of(piece), slices->end - slices->begin);
    add_plain(grid, slices->tracks[piece->track].name);
    add_plain(grid, source.data ? source.data : "");
    add_plain(grid, name_of(slices, piece));
    trace_text_free(&source);
}

static void put_pieces(const struct slices *slices,
                       const struct critical *critical)
{
    struct critical_grid grid = {.count = 0};
    struct longest longest = find_longest(critical);
    uint64_t hidden = 0;
    size_t count = 0;

    begin_grid(&grid, &of_pieces);
    for (size_t i = 0; i < critical->count; i++) {
        const struct piece *piece = &critical->pieces[i];

        if (is_shown(&longest, piece)) {
            add_piece(&grid, slices, piece);
        } else {
            hidden += length_of(piece);
            count++;
        }
    }
    put_grid(&grid, &of_pieces);
    if (count) {
        struct trace_text text = {0};

        log_duration(&text, hidden);
        printf("%zu shorter pieces: %s\n", count, text.data ? text.data : "");
        trace_text_free(&text);
    }
}

static void put_sums(const struct slices *slices,
                     const struct critical *critical)
{
    struct critical_grid grid = {.count = 0};
    char count[24];

    begin_grid(&grid, &of_sums);
    for (size_t i = 0; i < critical->sum_count; i++) {
        const struct piece_sum *sum = &critical->sums[i];

        add_duration(&grid, sum->total);
        add_share(&grid, sum->total, slices->end - slices->begin);
        snprintf(count, sizeof(count), "%zu", sum->pieces);
        add_cell(&grid, count);
        add_plain(&grid, sum->name ? sum->name : NOTHING);
    }
    put_grid(&grid, &of_sums);
}

static void put_text(const struct slices *slices,
                     const struct critical *critical)
{
    put_pieces(slices, critical);
    putchar('\n');
    put_sums(slices, critical);
}

/* ---- Several tests ---- */

/* The names with the largest totals, "train 60.1%, saxpy 20.2%". */
static void add_top(struct trace_text *text, const struct critical *critical,
                    uint64_t whole)
{
    size_t count = 0;

    for (size_t i = 0; i < critical->sum_count && count < TOP; i++) {
        const struct piece_sum *sum = &critical->sums[i];

        if (!sum->name)
            continue;
        trace_text_string(text, count++ ? ", " : "");
        trace_text_string(text, sum->name);
        trace_text_printf(text, " %.1f%%", share_of(sum->total, whole));
    }
}

static void add_title(struct trace_text *text,
                      const struct recording *recording)
{
    trace_text_printf(text, "%s%s%s", recording->program,
                      *recording->program ? " " : "", recording->test);
}

static void add_test(struct critical_grid *grid,
                     const struct recording *recording,
                     const struct slices *slices,
                     const struct critical *critical)
{
    uint64_t whole = slices->end - slices->begin;
    struct trace_text text = {0};

    if (!grid->count)
        begin_grid(grid, &of_tests);
    add_duration(grid, whole);
    add_duration(grid, critical->covered);
    add_share(grid, critical->covered, whole);
    add_title(&text, recording);
    add_plain(grid, text.data ? text.data : "");
    trace_text_clear(&text);
    add_top(&text, critical, whole);
    add_plain(grid, text.data ? text.data : "");
    trace_text_free(&text);
}

/* ---- As CSV ---- */

static void put_csv(const struct slices *slices,
                    const struct critical *critical)
{
    uint64_t whole = slices->end - slices->begin;

    puts("start_ns,duration_ns,share_percent,where,source,name");
    for (size_t i = 0; i < critical->count; i++) {
        const struct piece *piece = &critical->pieces[i];
        struct trace_text source = source_of(slices, piece);

        printf("%" PRIu64 ",%" PRIu64 ",%.2f,", piece->begin - slices->begin,
               length_of(piece), share_of(length_of(piece), whole));
        runners_stat_quoted(slices->tracks[piece->track].name);
        putchar(',');
        runners_stat_quoted(source.data ? source.data : "");
        putchar(',');
        runners_stat_quoted(name_of(slices, piece));
        putchar('\n');
        trace_text_free(&source);
    }
}

static void put_csv_test(bool first, const struct recording *recording,
                         const struct slices *slices,
                         const struct critical *critical)
{
    uint64_t whole = slices->end - slices->begin;
    struct trace_text top = {0};

    if (first)
        puts("duration_ns,covered_ns,covered_percent,longest,program,test");
    printf("%" PRIu64 ",%" PRIu64 ",%.2f,", whole, critical->covered,
           share_of(critical->covered, whole));
    add_top(&top, critical, whole);
    runners_stat_quoted(top.data ? top.data : "");
    putchar(',');
    runners_stat_quoted(recording->program);
    putchar(',');
    runners_stat_quoted(recording->test);
    putchar('\n');
    trace_text_free(&top);
}

/* ---- As JSON ---- */

static void add_json_pieces(cJSON *test, const struct slices *slices,
                            const struct critical *critical)
{
    uint64_t whole = slices->end - slices->begin;
    cJSON *pieces = cJSON_AddArrayToObject(test, "pieces"), *object;

    for (size_t i = 0; i < critical->count; i++) {
        const struct piece *piece = &critical->pieces[i];
        const struct trace_site *site = site_of(slices, piece);
        struct trace_text source = source_of(slices, piece);

        object = cJSON_CreateObject();
        cJSON_AddNumberToObject(object, "start_ns",
                                (double)(piece->begin - slices->begin));
        cJSON_AddNumberToObject(object, "duration_ns",
                                (double)length_of(piece));
        cJSON_AddNumberToObject(object, "share_percent",
                                share_of(length_of(piece), whole));
        runners_json_add_text(object, "where",
                              slices->tracks[piece->track].name);
        runners_json_add_text(object, "source", source.data);
        runners_json_add_text(object, "name", site ? site->name : NULL);
        cJSON_AddItemToArray(pieces, object);
        trace_text_free(&source);
    }
}

static void add_json_sums(cJSON *test, const struct slices *slices,
                          const struct critical *critical)
{
    uint64_t whole = slices->end - slices->begin;
    cJSON *names = cJSON_AddArrayToObject(test, "names"), *object;

    for (size_t i = 0; i < critical->sum_count; i++) {
        const struct piece_sum *sum = &critical->sums[i];

        object = cJSON_CreateObject();
        runners_json_add_text(object, "name", sum->name);
        cJSON_AddNumberToObject(object, "total_ns", (double)sum->total);
        cJSON_AddNumberToObject(object, "share_percent",
                                share_of(sum->total, whole));
        cJSON_AddNumberToObject(object, "pieces", (double)sum->pieces);
        cJSON_AddItemToArray(names, object);
    }
}

static void add_json(struct critical_table *table,
                     const struct recording *recording,
                     const struct slices *slices,
                     const struct critical *critical)
{
    uint64_t whole = slices->end - slices->begin;
    cJSON *test = cJSON_CreateObject();

    if (!table->rows)
        table->rows = cJSON_CreateArray();
    runners_json_add_text(test, "program", recording->program);
    runners_json_add_text(test, "test", recording->test);
    cJSON_AddNumberToObject(test, "duration_ns", (double)whole);
    cJSON_AddNumberToObject(test, "covered_ns", (double)critical->covered);
    cJSON_AddNumberToObject(test, "covered_percent",
                            share_of(critical->covered, whole));
    add_json_sums(test, slices, critical);
    if (!table->several)
        add_json_pieces(test, slices, critical);
    cJSON_AddItemToArray(table->rows, test);
}

/* ---- Tables ---- */

void runners_critical_put(struct critical_table *table,
                          const struct recording *recording,
                          const struct slices *slices,
                          const struct critical *critical)
{
    locale_t before = trace_locale_enter();

    if (table->format == STAT_AS_JSON)
        add_json(table, recording, slices, critical);
    else if (table->format == STAT_AS_CSV && table->several)
        put_csv_test(!table->tests, recording, slices, critical);
    else if (table->format == STAT_AS_CSV)
        put_csv(slices, critical);
    else if (table->several)
        add_test(&table->grid, recording, slices, critical);
    else
        put_text(slices, critical);
    table->tests++;
    trace_locale_leave(before);
}

void runners_critical_end(struct critical_table *table, const char *where)
{
    cJSON *document;

    put_grid(&table->grid, &of_tests);
    if (table->format != STAT_AS_JSON)
        return;
    document = cJSON_CreateObject();
    cJSON_AddNumberToObject(document, "schema", 1);
    runners_json_add_text(document, "run", where);
    cJSON_AddStringToObject(document, "by", "critical");
    cJSON_AddItemToObject(document, "rows",
                          table->rows ? table->rows : cJSON_CreateArray());
    runners_json_print(document);
    cJSON_Delete(document);
}
