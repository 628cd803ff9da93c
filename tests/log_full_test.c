/* log_full_test.c: lines look as those that tracing-subscriber wrote. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "support.h"

TestSuite(log_full, .init = test_folder);

/* ---- Rows of recorded cases become recordings ---- */

enum { FIELDS = 16, SPANS = 8, SITES = 32 };

struct made {
    struct trace_site site;
    const char *names[FIELDS];
    struct trace_value values[FIELDS];
};

static struct made made[SITES];
static size_t made_count;

static int hex(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Turns "%1B" into the byte, in place; returns the length. */
static size_t unescape(char *text)
{
    char *to = text;

    for (const char *at = text; *at;)
        if (*at == '%') {
            *to++ = (char)(hex(at[1]) << 4 | hex(at[2]));
            at += 3;
        } else {
            *to++ = *at++;
        }
    return (size_t)(to - text);
}

static struct trace_value text_value(char *text, bool display)
{
    struct trace_value value = trace_string(text, unescape(text));

    if (display)
        value.type = TRACE_TYPE_DISPLAY;
    return value;
}

/* A value whose type no prefix tells: a bool, an integer, a double or text. */
static struct trace_value guess(char *text)
{
    char *end;
    long long number = strtoll(text, &end, 10);

    if (!strcmp(text, "true") || !strcmp(text, "false"))
        return trace_bool(text[0] == 't');
    if (end > text && !*end)
        return trace_i64_(number);

    double real = strtod(text, &end);

    return end > text && !*end ? trace_f64_(real) : text_value(text, false);
}

static struct trace_value value_of(char *text)
{
    if (!text)
        return trace_empty();
    if (!text[0] || text[1] != ':')
        return guess(text);
    switch (text[0]) {
    case 'i':
        return trace_i64_(strtoll(text + 2, NULL, 10));
    case 'u':
        return trace_u64_(strtoull(text + 2, NULL, 10));
    case 'f':
        return trace_f64_(strtod(text + 2, NULL));
    case 'b':
        return trace_bool(text[2] == 't');
    case 'd':
        return text_value(text + 2, true);
    default:
        return text_value(text + 2, false);
    }
}

/* Makes a call site with "a=1,b=s:x" as its fields. */
static struct made *make(uint8_t kind, unsigned level, const char *name,
                         const char *target, char *fields)
{
    struct made *one = &made[made_count++];
    char *field;

    cr_assert_leq(made_count, SITES);
    *one = (struct made){.site = TEST_SITE(EVENT, INFO, name, target, NULL, 0)};
    one->site.kind = kind;
    one->site.level = (uint8_t)level;
    one->site.fields = one->names;
    while (fields && *fields && (field = strsep(&fields, ","))) {
        char *value = strchr(field, '=');

        if (value)
            *value++ = '\0';
        one->names[one->site.field_count] = field;
        one->values[one->site.field_count++] = value_of(value);
    }
    return one;
}

/* Takes "{...}" off a span's text; `mark` stands before it. */
static char *group(char **at, char mark)
{
    if (mark && **at != mark)
        return NULL;
    *at += mark != '\0';
    if (**at != '{')
        return NULL;

    char *inside = *at + 1, *end = strchr(inside, '}');

    *end = '\0';
    *at = end + 1;
    return inside;
}

static void record_late(struct trace_span_ref span, char *fields)
{
    if (!fields)
        return;

    struct made *late =
        make(TRACE_SITE_FIELDS, TRACE_LEVEL_TRACE, NULL, "", fields);

    trace_record_(span, &late->site, late->site.field_count, late->values);
}

/* Begins and enters a span, "name[@target][!LEVEL]{...}+{...}>{...}"; returns
 * its entering. */
static struct trace_span_ref enter(char *text, const char *target)
{
    char *at = text + strcspn(text, "{+>");
    char *rest = strdup(at);
    char *groups = rest;

    *at = '\0';

    char *level = strchr(text, '!');

    if (level)
        *level++ = '\0';
    target = strchr(text, '@') ? strchr(text, '@') + 1 : target;
    text[strcspn(text, "@")] = '\0';

    struct made *one =
        make(TRACE_SITE_SPAN, level ? test_level(level) : TRACE_LEVEL_INFO,
             text, target, group(&groups, '\0'));
    struct trace_span_ref span =
        trace_span_new_(&one->site, one->site.field_count, one->values);

    record_late(span, group(&groups, '+'));

    struct trace_span_ref entered = trace_span_enter_(span);

    record_late(span, group(&groups, '>'));
    free(rest);
    return entered;
}

static void record_event(struct test_cases *row)
{
    struct made *event = make(TRACE_SITE_EVENT, test_level(row->columns[1]), "",
                              row->columns[2], row->columns[4]);

    trace_event_(&event->site, event->site.field_count, event->values);
}

/* Records a row's event in its spans and returns its line. */
static char *line_of(struct test_cases *row, const struct log_style *style)
{
    struct trace_span_ref entered[SPANS];
    char *rest = row->columns[3], *span;
    size_t depth = 0;

    made_count = 0;
    prctl(PR_SET_NAME, "main");
    test_record();
    while ((span = strsep(&rest, ";")) && *span)
        entered[depth++] = enter(span, row->columns[2]);
    record_event(row);
    while (depth)
        trace_span_leave_(entered[--depth]);

    struct trace_reader *reader = test_read();
    char *line = test_lines(reader, "trace", style);

    trace_reader_close(reader);
    return line;
}

/* ---- Recorded answers ---- */

struct answers {
    char *text, *at;
};

static struct answers answers_open(const char *name)
{
    char path[512];
    struct answers answers;

    snprintf(path, sizeof(path), "%s/cases/formats/%s", TESTS_DIR, name);
    answers.text = answers.at = test_load(path, NULL);
    return answers;
}

/* Whether a line tells of a span's life; those are not ours to print. */
static bool of_span(const char *line)
{
    static const char *const ends[] = {" new", " enter", " exit", " close"};
    size_t size = strlen(line);

    for (size_t i = 0; i < sizeof(ends) / sizeof(*ends); i++)
        if (size > 6 && !strcmp(line + size - strlen(ends[i]), ends[i]))
            return true;
    return false;
}

/* Adds a line with "\e" as ESC. */
static void add_line(struct trace_text *out, const char *line)
{
    for (const char *escape; (escape = strstr(line, "\\e["));
         line = escape + 2) {
        trace_text_add(out, line, (size_t)(escape - line));
        trace_text_char(out, '\033');
    }
    trace_text_string(out, line);
    trace_text_char(out, '\n');
}

/* The lines of the next answer, to be freed. */
static char *answer_next(struct answers *answers)
{
    struct trace_text lines = {0};
    char *line = strsep(&answers->at, "\n");

    cr_assert(line && line[0] == '1');
    while (answers->at && answers->at[0] == '|') {
        line = strsep(&answers->at, "\n") + 2;
        if (!of_span(line))
            add_line(&lines, line);
    }
    return lines.data;
}

/* Where ours differs on purpose, by the number of the row. */
struct deviation {
    const char *cases;
    size_t row;
    const char *line; /* without colours */
};

static const struct deviation deviations[] = {
    /* What is recorded again replaces. */
    {"formats/cases.tsv", 5,
     "TRACE empty:declared:rec{late=6}:multi{a=1 b=2}: my_crate: hi k=\"v\"\n"},
    /* A line stays a line: what would break it is escaped, in a text that is
     * shown as it is too. */
    {"formats/cases.tsv", 7,
     " INFO my_crate: esc\\x1b[31mred\\x07\\x08\\x0c\\x7f\\nnew\ttab"
     " f=\"esc\\u{1b}[31m\\n\\t\\\"\\\\\" d=raw\\x1b[31m\\nline\n"},
    /* "r#" and the hidden fields "log.*" are Rust's. */
    {"formats/cases.tsv", 8,
     " INFO my_crate: with C1 \\u{85} r#type=1 log.x=1 big=1e300 tiny=1e-7"
     " nan=NaN inf=inf u=18446744073709551615\n"},
    {"formats/numbers.tsv", 2,
     " INFO m: "
     "s=\"\\0\\u{1}\\r'\\\"\\\\\\u{7f}\\u{200b}\xc3\xa9\xf0\x9f\x98\x80"
     "\\u{a0}\\u{301}x\" \\0\\x01\\r\xe2\x80\x8bx\n"},
};

static const struct deviation *deviation_of(const char *cases, size_t row)
{
    for (size_t i = 0; i < sizeof(deviations) / sizeof(*deviations); i++)
        if (deviations[i].row == row && !strcmp(deviations[i].cases, cases))
            return &deviations[i];
    return NULL;
}

/* Takes the thread's number and, if asked for, all colours out of a line. */
static void normalise(char *line, bool colors)
{
    char *to = line;

    for (char *at = line; *at;) {
        if (!strncmp(at, "ThreadId(", 9)) {
            at += strcspn(at, ")");
            memmove(to, "ThreadId(01", 11);
            to += 11;
        } else if (colors && *at == '\033') {
            at += strcspn(at, "m") + 1;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

static size_t check(const char *cases, const char *answers_name,
                    const struct log_style *style)
{
    struct answers answers = answers_open(answers_name);
    struct test_cases row;
    size_t rows = 0;

    test_cases_open(&row, cases);
    while (test_cases_next(&row)) {
        const struct deviation *deviation = deviation_of(cases, ++rows);
        char *line = line_of(&row, style), *answer = answer_next(&answers);

        normalise(line, false);
        if (!deviation)
            cr_expect_str_eq(line, answer, "row %zu: %s", rows, line);
        else if (!style->color)
            cr_expect_str_eq(line, deviation->line, "row %zu: %s", rows, line);
        free(line);
        free(answer);
    }
    free(answers.text);
    return rows;
}

Test(log_full, lines_are_those_of_upstream)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    cr_expect_eq(check("formats/cases.tsv", "full.expected", &style), 8);
}

Test(log_full, numbers_and_escapes_are_those_of_upstream)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    cr_expect_eq(check("formats/numbers.tsv", "numbers-full.expected", &style),
                 2);
}

Test(log_full, colours_are_those_of_upstream)
{
    struct log_style style = {.time = LOG_TIME_NONE,
                              .color = true,
                              .file = true,
                              .line = true,
                              .thread_name = true,
                              .thread_id = true};

    cr_expect_eq(
        check("formats/cases.tsv", "full-ansi-spanevents.expected", &style), 8);
}

/* Without its colours, a line is the line without colours. */
Test(log_full, colours_change_nothing_else)
{
    static const char *const files[] = {"formats/cases.tsv",
                                        "formats/numbers.tsv"};
    struct log_style plain = {.time = LOG_TIME_NONE}, color = plain;

    color.color = true;
    for (size_t i = 0; i < 2; i++) {
        struct test_cases row, again;

        test_cases_open(&row, files[i]);
        test_cases_open(&again, files[i]);
        while (test_cases_next(&row) && test_cases_next(&again)) {
            char *bare = line_of(&row, &plain);
            char *colored = line_of(&again, &color);

            cr_expect_neq(strchr(colored, '\033'), NULL);
            normalise(colored, true);
            cr_expect_str_eq(colored, bare);
            free(bare);
            free(colored);
        }
        cr_assert_not(test_cases_next(&again));
    }
}

/* ---- Times ---- */

static struct trace_site plain_site =
    TEST_SITE(EVENT, WARN, "hello", "m", NULL, 0);

/* The line of an event `ns` after an origin at `wall`. */
static char *line_at(uint64_t wall, uint64_t ns, const struct log_style *style)
{
    struct trace_options options = {.origin = trace_anchor_now()};
    struct log_filter *filter = log_filter_parse("trace", NULL, "LOG", NULL);
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;

    options.origin.wall = wall;
    plain_site.id = 0;
    remove(test_path("recording"));
    cr_assert_eq(trace_open(test_path("recording"), &options), 0);
    trace_event_(&plain_site, 0, NULL);

    struct trace_reader *reader = test_read();

    cr_assert(test_find(reader, TRACE_ENTRY_EVENT, "hello", &entry));
    entry.time = ns;
    cr_assert(log_line(replay, style, reader, &entry, &text));
    trace_reader_close(reader);
    log_replay_free(replay);
    log_filter_free(filter);
    return text.data;
}

Test(log_full, times_are_utc_uptime_or_none)
{
    static const struct {
        enum log_time time;
        uint64_t wall, ns;
        const char *line;
    } rows[] = {
        {LOG_TIME_UTC, UINT64_C(1795226184269717999), 0,
         "2026-11-21T01:56:24.269717Z  WARN m: hello\n"},
        {LOG_TIME_UTC, 0, 0, "1970-01-01T00:00:00.000000Z  WARN m: hello\n"},
        {LOG_TIME_UTC, UINT64_C(951782399999999000), 1001,
         "2000-02-29T00:00:00.000000Z  WARN m: hello\n"},
        {LOG_TIME_UTC, 1, UINT64_C(999999998),
         "1970-01-01T00:00:00.999999Z  WARN m: hello\n"},
        {LOG_TIME_UPTIME, 7, 123456, "   0.000123456s  WARN m: hello\n"},
        {LOG_TIME_UPTIME, 7, UINT64_C(9999999999999),
         "9999.999999999s  WARN m: hello\n"},
        {LOG_TIME_UPTIME, 7, UINT64_C(12345000000000),
         "12345.000000000s  WARN m: hello\n"},
        {LOG_TIME_NONE, 7, 7, " WARN m: hello\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct log_style style = {.time = rows[i].time};
        char *line = line_at(rows[i].wall, rows[i].ns, &style);

        cr_expect_str_eq(line, rows[i].line, "%s", line);
        free(line);
    }
}

Test(log_full, style_decides_what_stands_before_the_message)
{
    static const struct {
        struct log_style style;
        const char *line;
    } rows[] = {
        {{.time = LOG_TIME_NONE, .test = "net/slow"},
         "[net/slow]  WARN m: hello\n"},
        {{.time = LOG_TIME_NONE, .file = true}, " WARN m: src/lib.rs: hello\n"},
        {{.time = LOG_TIME_NONE, .line = true}, " WARN m: 42: hello\n"},
        {{.time = LOG_TIME_NONE, .file = true, .line = true},
         " WARN m: src/lib.rs:42: hello\n"},
        {{.time = LOG_TIME_NONE, .thread_name = true},
         " WARN a\\x1bb m: hello\n"},
        {{.time = LOG_TIME_NONE, .thread_id = true},
         " WARN ThreadId(01) m: hello\n"},
        {{.time = LOG_TIME_UPTIME, .color = true},
         "\033[2m   0.000000000s\033[0m \033[33m WARN\033[0m \033[2mm\033[0m"
         "\033[2m:\033[0m hello\n"},
    };

    prctl(PR_SET_NAME, "a\033b");
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char *line = line_at(0, 0, &rows[i].style);

        normalise(line, false);
        cr_expect_str_eq(line, rows[i].line, "%s", line);
        free(line);
    }
}

/* ---- What a program's own names can hold ---- */

Test(log_full, nothing_breaks_a_line)
{
    static const char *const names[] = {"evil\nfield"};
    struct trace_site span =
        TEST_SITE(SPAN, INFO, "s\np\033[1m", "t\n", NULL, 0);
    struct trace_site event =
        TEST_SITE(EVENT, INFO, "first\nsecond", "t\033", names, 1);
    struct trace_value value = trace_text_("a\nb");

    event.file = "dir\n/file.c";
    test_record();

    struct trace_span_ref ref = trace_span_open_(&span, 0, NULL);

    trace_event_(&event, 1, &value);
    trace_span_leave_(ref);

    struct log_style style = {.time = LOG_TIME_NONE, .file = true};
    struct trace_reader *reader = test_read();
    char *line = test_lines(reader, "trace", &style);

    cr_expect_str_eq(line,
                     " INFO s\\np\\x1b[1m: t\\x1b: dir\\n/file.c: "
                     "first\\nsecond evil\\nfield=\"a\\nb\"\n",
                     "%s", line);
    free(line);
    trace_reader_close(reader);
}
