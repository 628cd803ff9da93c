/* runners_table_printer_test.c: tables as text, lines, CSV and JSON. */
#include "tests/support/support.h"

#include <stdio.h>
#include <stdlib.h>

#include <cjson/cJSON.h>

#include <criterion/criterion.h>

#include "runners/table/table_printer.h"

struct animal {
    const char *name, *legs, *place;
    double count, share, time;
    unsigned depth;
};

#define ANIMAL_COLUMNS(X)                                                      \
    X("Count", "count", COUNT, animal->count)                                  \
    X("Share", "share_percent", PERCENT, animal->share)                        \
    X("Time", "time_ns", SOME_TIME, animal->time)                              \
    X(NULL, "depth", COUNT, animal->depth)                                     \
    X("Legs", "legs", FIELD, animal->legs)                                     \
    X("Place", "place", TEXT, animal->place)                                   \
    X("Name", "name", NESTED, animal->name, animal->depth)                     \
    X("Note", NULL, TEXT, "-")

static const struct runners_column *const columns =
    RUNNERS_COLUMNS(ANIMAL_COLUMNS);

static const struct animal animals[] = {
    {"cat", "4", "house", 12, 33.333, 1500.5, 0},
    {"c\n\"t\xff", "4.5", NULL, 3, 0, 0, 1},
    {"=日本", NULL, "ä,", 123456789, 100, 2e9, 2},
};

static struct runners_table table;

static void open_stdout(void)
{
    test_folder();
    cr_assert_not_null(freopen(test_path("out"), "we", stdout));
}

TestSuite(runners_table_printer, .init = open_stdout);

static void add(enum runners_form form, size_t count)
{
    runners_table_begin(&table, columns, form);
    for (size_t i = 0; i < count; i++) {
        const struct animal *animal = &animals[i];

        runners_table_add(&table, RUNNERS_CELLS(ANIMAL_COLUMNS));
    }
}

static void expect_printed(const char *expected)
{
    char text[1024] = "";
    FILE *file;

    cr_assert_eq(fflush(stdout), 0);
    file = fopen(test_path("out"), "re");
    cr_assert_not_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    cr_expect_str_eq(text, expected);
}

Test(runners_table_printer, aligns_numbers_right_and_text_left)
{
    add(RUNNERS_AS_TEXT, 3);
    expect_printed("");
    runners_table_end(&table);
    expect_printed(
        "    Count   Share    Time  Legs  Place  Name         Note\n"
        "       12   33.3%  1.50µs     4  house  cat          -\n"
        "        3    0.0%       -   4.5           c\\n\"t\\xff  -\n"
        "123456789  100.0%   2.00s        ä,         =日本      -\n");
}

Test(runners_table_printer, prints_titles_of_an_empty_table)
{
    add(RUNNERS_AS_TEXT, 0);
    runners_table_end(&table);
    expect_printed("Count  Share  Time  Legs  Place  Name  Note\n");
}

Test(runners_table_printer, prints_nothing_of_a_table_that_has_not_begun)
{
    runners_table_end(&table);
    expect_printed("");
}

Test(runners_table_printer, prints_lines_when_they_are_added)
{
    add(RUNNERS_AS_LINES, 1);
    expect_printed("        12       33.3%      1.50µs  4  house  cat  -\n");
    runners_table_end(&table);
}

Test(runners_table_printer, quotes_csv)
{
    add(RUNNERS_AS_CSV, 3);
    runners_table_end(&table);
    expect_printed("count,share_percent,time_ns,depth,legs,place,name\n"
                   "12,33.33,1500,0,4,house,cat\n"
                   "3,0.00,,1,4.5,,\"c\n\"\"t\xef\xbf\xbd\"\n"
                   "123456789,100.00,2000000000,2,,\"ä,\",'=日本\n");
}

static void expect_row(int number, const char *expected)
{
    char *text = cJSON_PrintUnformatted(cJSON_GetArrayItem(table.rows, number));

    cr_expect_str_eq(text, expected);
    cJSON_free(text);
}

Test(runners_table_printer, leaves_missing_members_out_of_json)
{
    add(RUNNERS_AS_JSON, 3);
    runners_table_end(&table);
    expect_printed("");
    cr_expect_eq(cJSON_GetArraySize(table.rows), 3);
    expect_row(0,
               "{\"count\":12,\"share_percent\":33.333,\"time_ns\":1501,"
               "\"depth\":0,\"legs\":4,\"place\":\"house\",\"name\":\"cat\"}");
    expect_row(1, "{\"count\":3,\"share_percent\":0,\"depth\":1,"
                  "\"legs\":\"4.5\",\"place\":null,"
                  "\"name\":\"c\\n\\\"t\xef\xbf\xbd\"}");
    expect_row(2, "{\"count\":123456789,\"share_percent\":100,"
                  "\"time_ns\":2000000000,\"depth\":2,\"legs\":null,"
                  "\"place\":\"ä,\",\"name\":\"=日本\"}");
    cJSON_Delete(table.rows);
}

/* A table may have any number of columns. */
Test(runners_table_printer, measures_all_of_many_columns)
{
    enum { MANY = 100 };
    struct runners_column many[MANY + 1] = {{.key = NULL}};
    struct runners_cell cells[MANY] = {{.number = 0}};

    for (int i = 0; i < MANY; i++)
        many[i] = (struct runners_column){"T", "t", RUNNERS_COUNT};
    cells[MANY - 2].number = 12345;
    runners_table_begin(&table, many, RUNNERS_AS_TEXT);
    cr_expect_null(runners_table_add(&table, cells));
    runners_table_end(&table);
    cr_assert_eq(fflush(stdout), 0);
    cr_expect_eq(ftell(stdout), 2 * (3 * MANY + 3));
}

static cJSON *json_of(const struct animal *animal)
{
    return RUNNERS_ROW_OBJECT(ANIMAL_COLUMNS);
}

#define PAIR_COLUMNS(X)                                                        \
    X(NULL, "one", OBJECT, json_of(animal))                                    \
    X(NULL, "none", OBJECT, NULL)                                              \
    X(NULL, "ratio", SOME_RATIO, 1.5)                                          \
    X(NULL, "text", SOME_TEXT, (const char *)NULL)

Test(runners_table_printer, nests_objects)
{
    const struct animal *animal = &animals[0];
    const struct runners_cell *cells = RUNNERS_CELLS(ANIMAL_COLUMNS);
    cJSON *row;

    runners_table_begin(&table, RUNNERS_COLUMNS(PAIR_COLUMNS), RUNNERS_AS_JSON);
    row = runners_table_add(&table, RUNNERS_CELLS(PAIR_COLUMNS));
    runners_table_members(row, &columns[6], &cells[6]);
    runners_table_end(&table);
    expect_row(0, "{\"one\":{\"count\":12,\"share_percent\":33.333,"
                  "\"time_ns\":1501,\"depth\":0,\"legs\":4,\"place\":\"house\","
                  "\"name\":\"cat\"},\"none\":null,\"ratio\":1.5,"
                  "\"name\":\"cat\"}");
    cJSON_Delete(table.rows);
}

/* ---- Optional columns ---- */

#define OPTIONAL_COLUMNS(X)                                                    \
    X("?Time", "time_ns", SOME_TIME, time)                                     \
    X("?Bytes", "bytes", KNOWN_BYTES, bytes)                                   \
    X("Name", "name", TEXT, "a")

static void add_optional(double time, double bytes)
{
    runners_table_add(&table, RUNNERS_CELLS(OPTIONAL_COLUMNS));
}

Test(runners_table_printer, leaves_out_optional_columns_without_values)
{
    runners_table_begin(&table, RUNNERS_COLUMNS(OPTIONAL_COLUMNS),
                        RUNNERS_AS_TEXT);
    add_optional(0, -1);
    add_optional(0, 0);
    runners_table_end(&table);
    expect_printed("Bytes  Name\n"
                   "    -  a\n"
                   "  0 B  a\n");
}
