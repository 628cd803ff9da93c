/* stat_table.c: prints sums as an aligned table, as CSV or as JSON. */
#include <locale.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "log/replay/replay.h"
#include "runners/find/run_json.h"
#include "stat.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

/* ---- Columns ---- */

enum cell {
    CELL_COUNT,
    CELL_TIME, /* ns */
    CELL_PERCENT,
    CELL_TEXT,
};

/* X(NAME, kind of cell, the value of a sum) */
#define STAT_VALUES(X)                                                         \
    X(COUNT, COUNT, (double)sum->spread.count)                                 \
    X(TOTAL, TIME, (double)sum->spread.total)                                  \
    X(SELF, TIME, (double)sum->self)                                           \
    X(AVERAGE, TIME, sum->spread.mean)                                         \
    X(LEAST, TIME, (double)sum->spread.least)                                  \
    X(MEDIAN, TIME, (double)runners_spread_quantile(&sum->spread, 0.5))        \
    X(P99, TIME, (double)runners_spread_quantile(&sum->spread, 0.99))          \
    X(MOST, TIME, (double)sum->spread.most)                                    \
    X(DEVIATION, TIME, runners_spread_deviation(&sum->spread))                 \
    X(SHARE, PERCENT, all > 0 ? 100 * (double)sum->spread.total / all : 0)     \
    X(LINES, COUNT, (double)sum->lines[TRACE_LEVEL_OFF])                       \
    X(ERRORS, COUNT, (double)sum->lines[TRACE_LEVEL_ERROR])                    \
    X(WARNS, COUNT, (double)sum->lines[TRACE_LEVEL_WARN])                      \
    X(INFOS, COUNT, (double)sum->lines[TRACE_LEVEL_INFO])                      \
    X(DEBUGS, COUNT, (double)sum->lines[TRACE_LEVEL_DEBUG])                    \
    X(TRACES, COUNT, (double)sum->lines[TRACE_LEVEL_TRACE])                    \
    X(SPANS, COUNT, (double)sum->spans)                                        \
    X(KERNELS, COUNT, (double)sum->kernels)                                    \
    X(DEPTH, COUNT, (double)sum->depth)

enum value {
#define X(name, kind, expression) VALUE_##name,
    STAT_VALUES(X)
#undef X
        VALUES
};

static const enum cell value_cells[VALUES] = {
#define X(name, kind, expression) CELL_##kind,
    STAT_VALUES(X)
#undef X
};

/* `all` is the total of all sums. */
static double value_of(const struct sum *sum, double all, enum value value)
{
    switch (value) {
#define X(name, kind, expression)                                              \
    case VALUE_##name:                                                         \
        return expression;
        STAT_VALUES(X)
#undef X
    default:
        return 0;
    }
}

struct column {
    const char *title; /* NULL: only in CSV and JSON */
    const char *key;   /* there; NULL ends a table */
    enum value value;
    enum stat_text text; /* if `is_text` */
    bool is_text;
};

#define VALUE(title, key, value)                                               \
    {                                                                          \
        title, key, VALUE_##value, STAT_NAME, false                            \
    }
#define TEXT(title, key, text)                                                 \
    {                                                                          \
        title, key, VALUE_COUNT, STAT_##text, true                             \
    }

/* The name comes last, because it may be long. */
static const struct column spans[] = {
    VALUE("Count", "count", COUNT), VALUE("Total", "total_ns", TOTAL),
    VALUE("Self", "self_ns", SELF), VALUE("Average", "average_ns", AVERAGE),
    VALUE("Min", "min_ns", LEAST),  VALUE("Median", "median_ns", MEDIAN),
    VALUE("p99", "p99_ns", P99),    VALUE("Max", "max_ns", MOST),
    TEXT("Span", "name", NAME),     {.key = NULL},
};

static const struct column kernels[] = {
    VALUE("Time", "time_percent", SHARE),
    VALUE("Total", "total_ns", TOTAL),
    VALUE("Instances", "instances", COUNT),
    VALUE("Avg", "avg_ns", AVERAGE),
    VALUE("Med", "med_ns", MEDIAN),
    VALUE("Min", "min_ns", LEAST),
    VALUE("Max", "max_ns", MOST),
    VALUE("StdDev", "stddev_ns", DEVIATION),
    TEXT("Grid", "grid", GRID),
    TEXT("Block", "block", BLOCK),
    TEXT("Registers", "registers", REGISTERS),
    TEXT("Shared", "shared_memory", SHARED),
    TEXT("Occupancy", "occupancy_percent", OCCUPANCY),
    TEXT("Kernel", "name", NAME),
    {.key = NULL},
};

static const struct column targets[] = {
    VALUE("Lines", "lines", LINES),  VALUE("Error", "error", ERRORS),
    VALUE("Warn", "warn", WARNS),    VALUE("Info", "info", INFOS),
    VALUE("Debug", "debug", DEBUGS), VALUE("Trace", "trace", TRACES),
    TEXT("Target", "name", NAME),    {.key = NULL},
};

static const struct column tests[] = {
    VALUE("Time", "duration_ns", TOTAL),
    VALUE("Spans", "spans", SPANS),
    VALUE("Lines", "lines", LINES),
    VALUE("Kernels", "kernels", KERNELS),
    TEXT("Program", "program", PROGRAM),
    TEXT("Test", "name", NAME),
    {.key = NULL},
};

/* In the text, the name is indented by the depth. */
static const struct column tree[] = {
    VALUE("Total", "total_ns", TOTAL), VALUE("Self", "self_ns", SELF),
    VALUE("Count", "count", COUNT),    VALUE(NULL, "depth", DEPTH),
    TEXT("Span", "name", NAME),        {.key = NULL},
};

static const struct column *const columns[STAT_TABLE_COUNT] = {
    [STAT_SPAN] = spans, [STAT_KERNEL] = kernels, [STAT_TARGET] = targets,
    [STAT_TEST] = tests, [STAT_TREE] = tree,
};

static double total_of(const struct sums *sums)
{
    double all = 0;

    for (size_t i = 0; i < sums->count; i++)
        all += (double)sums->all[i].spread.total;
    return all;
}

static const char *text_of(const struct sum *sum, const struct column *column)
{
    const char *text = sum->texts[column->text];

    return text ? text : "";
}

/* ---- As text ---- */

static void add_value(struct trace_text *out, const struct column *column,
                      double value)
{
    if (value_cells[column->value] == CELL_TIME)
        log_duration(out, (uint64_t)(value + 0.5));
    else if (value_cells[column->value] == CELL_PERCENT)
        trace_text_printf(out, "%.1f%%", value);
    else
        trace_text_printf(out, "%.0f", value);
}

static void set_cell(struct trace_text *out, const struct column *column,
                     const struct sum *sum, double all)
{
    trace_text_clear(out);
    if (column->is_text && column->text == STAT_NAME)
        trace_text_printf(out, "%*s", (int)(2 * sum->depth), "");
    if (column->is_text)
        log_plain(out, text_of(sum, column), strlen(text_of(sum, column)));
    else
        add_value(out, column, value_of(sum, all, column->value));
}

size_t runners_stat_width(const char *text, size_t size)
{
    size_t width = 0;

    for (size_t i = 0; i < size; i++)
        width += !trace_utf8_continues(text[i]);
    return width;
}

static size_t width_of_column(const struct sums *sums,
                              const struct column *column, double all)
{
    size_t widest = strlen(column->title);
    struct trace_text cell = {0};

    for (size_t i = 0; i < sums->count; i++) {
        size_t width;

        set_cell(&cell, column, &sums->all[i], all);
        width = runners_stat_width(cell.data ? cell.data : "", cell.size);
        if (width > widest)
            widest = width;
    }
    trace_text_free(&cell);
    return widest;
}

/* The last column is not padded. */
static void put_cell(const struct column *column, const char *text, size_t size,
                     size_t widest)
{
    size_t padding = widest - runners_stat_width(text, size);

    if (!column[1].key)
        puts(text);
    else
        printf("%*s%s  ", (int)padding, "", text);
}

void runners_stat_text(const struct sums *sums)
{
    const struct column *table = columns[sums->table];
    double all = total_of(sums);
    struct trace_text cell = {0};
    size_t widths[16];

    for (size_t c = 0; table[c].key; c++) {
        if (!table[c].title)
            continue;
        widths[c] = width_of_column(sums, &table[c], all);
        put_cell(&table[c], table[c].title, strlen(table[c].title), widths[c]);
    }
    for (size_t i = 0; i < sums->count; i++)
        for (size_t c = 0; table[c].key; c++) {
            if (!table[c].title)
                continue;
            set_cell(&cell, &table[c], &sums->all[i], all);
            put_cell(&table[c], cell.data ? cell.data : "", cell.size,
                     widths[c]);
        }
    trace_text_free(&cell);
}

/* ---- As CSV ---- */

/* A spreadsheet takes text for a formula that begins with one of =+-@. */
void runners_stat_quoted(const char *text)
{
    bool formula = *text && strchr("=+-@\t", *text);
    bool quoted = strpbrk(text, "\",\n\r");

    if (quoted)
        putchar('"');
    if (formula)
        putchar('\'');
    for (; *text; text++) {
        if (*text == '"')
            putchar('"');
        putchar(*text);
    }
    if (quoted)
        putchar('"');
}

/* A share has two decimals, other numbers none. */
static void put_number(const struct column *column, double value)
{
    bool percent = value_cells[column->value] == CELL_PERCENT;
    struct trace_text text = {0};
    locale_t before = trace_locale_enter();

    trace_text_printf(&text, "%.*f", percent ? 2 : 0, value);
    trace_locale_leave(before);
    fputs(text.data ? text.data : "", stdout);
    trace_text_free(&text);
}

void runners_stat_csv(const struct sums *sums)
{
    const struct column *table = columns[sums->table];
    double all = total_of(sums);

    for (size_t c = 0; table[c].key; c++)
        printf("%s%s", c ? "," : "", table[c].key);
    putchar('\n');
    for (size_t i = 0; i < sums->count; i++) {
        const struct sum *sum = &sums->all[i];

        for (size_t c = 0; table[c].key; c++) {
            if (c)
                putchar(',');
            if (table[c].is_text)
                runners_stat_quoted(text_of(sum, &table[c]));
            else
                put_number(&table[c], value_of(sum, all, table[c].value));
        }
        putchar('\n');
    }
}

/* ---- As JSON ---- */

/* Returns the number that a text is, or -1. */
static double number_in(const char *text)
{
    if (!*text || text[strspn(text, "0123456789")])
        return -1;
    return strtod(text, NULL);
}

static void add_cell(cJSON *row, const struct column *column,
                     const struct sum *sum, double all)
{
    const char *text = text_of(sum, column);
    bool is_name = column->text == STAT_NAME;

    if (!column->is_text) {
        double value = value_of(sum, all, column->value);

        if (value_cells[column->value] == CELL_TIME)
            value = (double)(uint64_t)(value + 0.5);
        cJSON_AddNumberToObject(row, column->key, value);
    } else if (!is_name && number_in(text) >= 0) {
        cJSON_AddNumberToObject(row, column->key, number_in(text));
    } else {
        runners_json_add_text(row, column->key, sum->texts[column->text]);
    }
}

void runners_stat_json(const struct sums *sums, const char *where)
{
    static const char *const words[] = {
#define STAT_X(name, word) word,
        STAT_TABLES(STAT_X)
#undef STAT_X
    };
    const struct column *table = columns[sums->table];
    cJSON *document = cJSON_CreateObject(), *rows, *row;
    double all = total_of(sums);

    cJSON_AddNumberToObject(document, "schema", 1);
    runners_json_add_text(document, "run", where);
    cJSON_AddStringToObject(document, "by", words[sums->table]);
    rows = cJSON_AddArrayToObject(document, "rows");
    for (size_t i = 0; i < sums->count; i++) {
        row = cJSON_CreateObject();
        for (size_t c = 0; table[c].key; c++)
            add_cell(row, &table[c], &sums->all[i], all);
        cJSON_AddItemToArray(rows, row);
    }
    runners_json_print(document);
    cJSON_Delete(document);
}
