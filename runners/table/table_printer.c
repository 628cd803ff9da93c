/* table_printer.c: prints rows as aligned text, CSV or JSON. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "harness/machine/notice.h"
#include "log/devices/device_summary.h"
#include "log/replay/replay.h"
#include "runners/runs/run_json.h"
#include "table_printer.h"
#include "trace/base/strings.h"
#include "trace/base/text.h"

enum { LINES_WIDTH = 10 /* of numbers */ };

static bool is_end(const struct runners_column *column)
{
    return !column->title && !column->key;
}

static bool is_text(enum runners_kind kind)
{
    return kind >= RUNNERS_FIELD;
}

/* ---- As text ---- */

static void add_text(struct trace_text *out, const struct runners_cell *cell)
{
    trace_text_printf(out, "%*s", (int)(2 * cell->number), "");
    if (cell->text)
        log_plain(out, cell->text, strlen(cell->text));
}

static void add_time(struct trace_text *out, double ns)
{
    if (ns < 0)
        trace_text_char(out, '-');
    log_duration(out, (uint64_t)fabs(ns));
}

static void add_cell(struct trace_text *out, enum runners_kind kind,
                     const struct runners_cell *cell)
{
    if (cell->missing)
        trace_text_char(out, '-');
    else if (is_text(kind))
        add_text(out, cell);
    else if (kind == RUNNERS_BYTES)
        log_bytes(out, (uint64_t)cell->number);
    else if (kind == RUNNERS_TIME)
        add_time(out, round(cell->number));
    else if (kind == RUNNERS_SECONDS)
        trace_text_printf(out, "%.2f s", cell->number / 1e9);
    else if (kind == RUNNERS_PERCENT)
        trace_text_printf(out, "%.1f%%", cell->number);
    else
        trace_text_printf(out, "%.*f", kind == RUNNERS_RATIO ? 2 : 0,
                          cell->number);
}

static size_t width_of(const char *text)
{
    size_t width = 0;

    for (; *text; text++)
        width += !trace_utf8_continues(*text);
    return width;
}

/* Returns the next column that text shows, or the end. */
static const struct runners_column *shown(const struct runners_column *column)
{
    while (!is_end(column) && !column->title)
        column++;
    return column;
}

/* An optional column has no width, and is not printed, until it has a value. */
static bool is_optional(const struct runners_column *column)
{
    return column->title[0] == '?';
}

static const char *title_of(const struct runners_column *column)
{
    return column->title + is_optional(column);
}

static void widen(struct runners_table *table,
                  const struct runners_column *column, const char *text)
{
    size_t width = width_of(text);

    if (width > table->widths[column - table->columns])
        table->widths[column - table->columns] = width;
}

/* Ends the cell that begins at `from`; `some`: it is a value. */
static void end_cell(struct runners_table *table,
                     const struct runners_column *column, size_t from,
                     bool some)
{
    trace_text_char(&table->cells, '\0');
    if (table->cells.failed || !table->widths)
        return;
    if (!is_optional(column) || some)
        widen(table, column, table->cells.data + from);
    if (some)
        widen(table, column, title_of(column));
}

static void add_titles(struct runners_table *table)
{
    for (const struct runners_column *column = shown(table->columns);
         !is_end(column); column = shown(column + 1)) {
        size_t from = table->cells.size;

        trace_text_string(&table->cells, title_of(column));
        end_cell(table, column, from, false);
    }
}

static void put_cell(const struct runners_table *table,
                     const struct runners_column *column, const char *cell)
{
    size_t width = width_of(cell);
    size_t widest = is_text(column->kind) ? 0 : LINES_WIDTH;
    int padding;

    if (table->widths && !table->widths[column - table->columns])
        return;
    if (table->widths)
        widest = table->widths[column - table->columns];
    padding = widest > width ? (int)(widest - width) : 0;
    if (is_end(shown(column + 1)))
        puts(cell);
    else if (column->kind <= RUNNERS_FIELD)
        printf("%*s%s  ", padding, "", cell);
    else
        printf("%s%*s  ", cell, padding, "");
}

/* Prints the rows so far. */
static void put_rows(struct runners_table *table)
{
    const struct runners_column *column = table->columns;

    for (size_t at = 0; at < table->cells.size;
         at += strlen(table->cells.data + at) + 1) {
        column = shown(column);
        if (is_end(column))
            column = shown(table->columns);
        put_cell(table, column++, table->cells.data + at);
    }
    trace_text_clear(&table->cells);
}

static void add_row(struct runners_table *table,
                    const struct runners_cell *cells)
{
    for (const struct runners_column *column = shown(table->columns);
         !is_end(column); column = shown(column + 1)) {
        size_t from = table->cells.size;

        add_cell(&table->cells, column->kind, &cells[column - table->columns]);
        end_cell(table, column, from, !cells[column - table->columns].missing);
    }
    if (table->form == RUNNERS_AS_LINES)
        put_rows(table);
}

/* ---- As CSV ---- */

/* A spreadsheet takes text for a formula that begins with one of =+-@. */
static void put_quoted(const char *text)
{
    bool formula = *text && strchr("=+-@\t", *text);
    bool quoted = strpbrk(text, "\",\n\r");
    struct trace_text valid = {0};

    test_log_sanitize(&valid, text, strlen(text));
    if (quoted)
        putchar('"');
    if (formula)
        putchar('\'');
    for (size_t i = 0; i < valid.size; i++) {
        if (valid.data[i] == '"')
            putchar('"');
        putchar(valid.data[i]);
    }
    if (quoted)
        putchar('"');
    trace_text_free(&valid);
}

/* Returns whether a number has decimals. */
static bool is_share(enum runners_kind kind)
{
    return kind == RUNNERS_PERCENT || kind == RUNNERS_RATIO;
}

/* The columns of a CSV file do not depend on its rows. */
static bool is_in_csv(const struct runners_column *column)
{
    return column->key && !(column->title && is_optional(column));
}

static void put_csv(const struct runners_table *table,
                    const struct runners_cell *cell)
{
    bool some = false;

    for (const struct runners_column *column = table->columns; !is_end(column);
         column++, cell++) {
        if (!is_in_csv(column))
            continue;
        if (some)
            putchar(',');
        some = true;
        if (is_text(column->kind))
            put_quoted(cell->text ? cell->text : "");
        else if (!cell->missing)
            printf("%.*f", is_share(column->kind) ? 2 : 0, cell->number);
    }
    putchar('\n');
}

static void put_keys(const struct runners_column *column)
{
    bool some = false;

    for (; !is_end(column); column++) {
        if (!is_in_csv(column))
            continue;
        printf("%s%s", some ? "," : "", column->key);
        some = true;
    }
    putchar('\n');
}

/* ---- As JSON ---- */

static bool has_only_digits(const char *text)
{
    return text && *text && !text[strspn(text, "0123456789")];
}

static void add_member(cJSON *object, const struct runners_column *column,
                       const struct runners_cell *cell)
{
    if (column->kind == RUNNERS_OBJECT)
        cJSON_AddItemToObject(object, column->key,
                              cell->object ? cell->object : cJSON_CreateNull());
    else if (column->kind == RUNNERS_FIELD && has_only_digits(cell->text))
        cJSON_AddNumberToObject(object, column->key, strtod(cell->text, NULL));
    else if (is_text(column->kind))
        runners_json_add_text(object, column->key, cell->text);
    else
        cJSON_AddNumberToObject(object, column->key,
                                is_share(column->kind) ? cell->number
                                                       : round(cell->number));
}

cJSON *runners_table_members(cJSON *object, const struct runners_column *column,
                             const struct runners_cell *cell)
{
    for (; !is_end(column); column++, cell++)
        if (column->key && !cell->missing)
            add_member(object, column, cell);
    return object;
}

/* ---- Tables ---- */

static size_t count_columns(const struct runners_column *columns)
{
    size_t count = 0;

    while (!is_end(&columns[count]))
        count++;
    return count;
}

void runners_table_begin(struct runners_table *table,
                         const struct runners_column *columns,
                         enum runners_form form)
{
    *table = (struct runners_table){.columns = columns, .form = form};
    if (form == RUNNERS_AS_JSON) {
        table->rows = cJSON_CreateArray();
    } else if (form == RUNNERS_AS_CSV) {
        put_keys(columns);
    } else if (form == RUNNERS_AS_TEXT) {
        table->widths = calloc(count_columns(columns), sizeof(*table->widths));
        add_titles(table);
    }
}

cJSON *runners_table_add(struct runners_table *table,
                         const struct runners_cell *cells)
{
    locale_t before = trace_locale_enter();
    cJSON *row = NULL;

    if (table->form == RUNNERS_AS_JSON) {
        row =
            runners_table_members(cJSON_CreateObject(), table->columns, cells);
        cJSON_AddItemToArray(table->rows, row);
    } else if (table->form == RUNNERS_AS_CSV) {
        put_csv(table, cells);
    } else {
        add_row(table, cells);
    }
    trace_locale_leave(before);
    return row;
}

void runners_table_end(struct runners_table *table)
{
    if (table->columns)
        put_rows(table);
    trace_text_free(&table->cells);
    free(table->widths);
}
