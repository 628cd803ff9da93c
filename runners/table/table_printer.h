/* table_printer.h: prints rows as aligned text, CSV or JSON. Private.
 *
 * A list X(title, key, KIND, value) describes the columns of a table once.
 * RUNNERS_COLUMNS makes the columns from it. RUNNERS_CELLS makes the cells of a
 * row, from the variables that the values name:
 *
 *     #define SPAN_COLUMNS(X)                               \
 *         X("Count", "count", COUNT, sum->durations.count) \
 *         X("Span", "name", TEXT, sum->texts[STAT_NAME])
 *
 *     runners_table_begin(&table, RUNNERS_COLUMNS(SPAN_COLUMNS), form);
 *     runners_table_add(&table, RUNNERS_CELLS(SPAN_COLUMNS));
 *     runners_table_end(&table);
 *
 * A column without a title is not in the text; one without a key is only there.
 * A column with a title such as "?CPU" is in the text only if a row has a
 * value, and not in CSV.
 */
#ifndef TESTLOG_TABLE_PRINTER_H
#define TESTLOG_TABLE_PRINTER_H

#include <testlog/trace.h>

struct cJSON;

enum runners_form {
    RUNNERS_AS_TEXT,
    RUNNERS_AS_LINES, /* text without titles and in columns of a fixed width, so
                         that each row is printed when it is added */
    RUNNERS_AS_CSV,
    RUNNERS_AS_JSON,
};

/* The kind of a cell. Text aligns numbers and fields at the right. */
enum runners_kind {
    RUNNERS_COUNT,
    RUNNERS_BYTES,
    RUNNERS_TIME,    /* ns, which may be negative */
    RUNNERS_SECONDS, /* ns that text prints in seconds */
    RUNNERS_PERCENT,
    RUNNERS_RATIO,
    RUNNERS_FIELD,  /* text that is a number in JSON if it has only digits */
    RUNNERS_TEXT,   /* NULL: null in JSON */
    RUNNERS_NESTED, /* text, indented by its depth */
    RUNNERS_OBJECT, /* of cJSON, which the row then owns; NULL: null */
    /* Values that may be missing: they are not in JSON, and "-" in the text.
     * KNOWN: missing if -1. SOME: missing if 0. */
    RUNNERS_KNOWN_COUNT = RUNNERS_COUNT,
    RUNNERS_KNOWN_BYTES = RUNNERS_BYTES,
    RUNNERS_KNOWN_TIME = RUNNERS_TIME,
    RUNNERS_SOME_COUNT = RUNNERS_COUNT,
    RUNNERS_SOME_SECONDS = RUNNERS_SECONDS,
    RUNNERS_SOME_TIME = RUNNERS_TIME,
    RUNNERS_SOME_RATIO = RUNNERS_RATIO,
    RUNNERS_SOME_TEXT = RUNNERS_TEXT,
};

struct runners_column {
    const char *title, *key; /* both NULL: the end */
    enum runners_kind kind;
};

struct runners_cell {
    double number; /* NESTED: the depth */
    const char *text;
    struct cJSON *object;
    bool missing;
};

#define RUNNERS_COLUMN(title, key, kind, ...) {title, key, RUNNERS_##kind},
#define RUNNERS_CELL(title, key, kind, ...)   RUNNERS_CELL_##kind(__VA_ARGS__),
#define RUNNERS_COLUMNS(list)                                                  \
    ((const struct runners_column[]){list(RUNNERS_COLUMN){0}})
#define RUNNERS_CELLS(list) ((const struct runners_cell[]){list(RUNNERS_CELL)})

/* A row as a JSON object, which the caller deletes or adds to another one. A
 * list that names such an object calls a function that makes it. */
#define RUNNERS_ROW_OBJECT(list)                                               \
    runners_table_members(cJSON_CreateObject(), RUNNERS_COLUMNS(list),         \
                          RUNNERS_CELLS(list))

#define RUNNERS_CELL_COUNT(value)                                              \
    {                                                                          \
        .number = (double)(value)                                              \
    }
#define RUNNERS_CELL_BYTES   RUNNERS_CELL_COUNT
#define RUNNERS_CELL_TIME    RUNNERS_CELL_COUNT
#define RUNNERS_CELL_PERCENT RUNNERS_CELL_COUNT
#define RUNNERS_CELL_RATIO   RUNNERS_CELL_COUNT
#define RUNNERS_CELL_TEXT(value)                                               \
    {                                                                          \
        .text = (value)                                                        \
    }
#define RUNNERS_CELL_FIELD RUNNERS_CELL_TEXT
#define RUNNERS_CELL_NESTED(value, depth)                                      \
    {                                                                          \
        .text = (value), .number = (double)(depth)                             \
    }
#define RUNNERS_CELL_OBJECT(value)                                             \
    {                                                                          \
        .object = (value)                                                      \
    }
#define RUNNERS_CELL_KNOWN_COUNT(value)                                        \
    {                                                                          \
        .number = (double)(value), .missing = (value) < 0                      \
    }
#define RUNNERS_CELL_KNOWN_BYTES RUNNERS_CELL_KNOWN_COUNT
#define RUNNERS_CELL_KNOWN_TIME  RUNNERS_CELL_KNOWN_COUNT
#define RUNNERS_CELL_SOME_TIME(value)                                          \
    {                                                                          \
        .number = (double)(value), .missing = !((value) > 0)                   \
    }
#define RUNNERS_CELL_SOME_COUNT   RUNNERS_CELL_SOME_TIME
#define RUNNERS_CELL_SOME_SECONDS RUNNERS_CELL_SOME_TIME
#define RUNNERS_CELL_SOME_RATIO   RUNNERS_CELL_SOME_TIME
#define RUNNERS_CELL_SOME_TEXT(value)                                          \
    {                                                                          \
        .text = (value), .missing = !(value)                                   \
    }

/* A table that has not begun prints nothing. */
struct runners_table {
    const struct runners_column *columns;
    enum runners_form form;
    struct trace_text cells; /* as text, each with its '\0' */
    size_t *widths;          /* of the columns, in characters */
    struct cJSON *rows;      /* JSON: an array, which the caller may take */
};

/* runners_table_begin begins a table; the columns must outlive it.
 * runners_table_add adds a row, which has a cell for each column, and returns
 * its JSON, NULL in another form. runners_table_end prints the remaining rows,
 * except as JSON, and frees the table. */
void runners_table_begin(struct runners_table *, const struct runners_column *,
                         enum runners_form);
struct cJSON *runners_table_add(struct runners_table *,
                                const struct runners_cell *);
void runners_table_end(struct runners_table *);

/* runners_table_members adds the members of a row to a JSON object, and returns
 * that. */
struct cJSON *runners_table_members(struct cJSON *,
                                    const struct runners_column *,
                                    const struct runners_cell *);

#endif
