/* formats.c: compares our lines with the recorded ones of tests/cases/formats.
 * tests/cases/filter/README.md describes the syntax of a row.
 */
#include "formats.h"

#include "log/replay/entry_text.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

/* ---- Rows become recordings ---- */

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

/* Replaces each "%XX" by its byte, in place; returns the length. */
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

/* Formats a string as Rust's Debug does: only strings are quoted. The text is
 * overwritten after 16 calls, the most fields of a call site. */
static struct trace_value quoted(char *text)
{
    static struct trace_text texts[16];
    static size_t next;
    struct trace_value value = text_value(text, false);
    struct trace_text *shown = &texts[next++ % 16];

    trace_text_clear(shown);
    log_value(shown, &value);
    value = trace_string(shown->data, shown->size);
    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

/* A value without a type prefix: a bool, an integer, a double or text. */
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
    case 'q':
        return quoted(text + 2);
    default:
        return text_value(text + 2, false);
    }
}

/* Makes a call site with fields such as "a=1,b=s:x". */
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

/* Removes "{...}", preceded by `mark`, from a span's text and returns the
 * inside. */
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

struct spanned {
    struct trace_span_ref span, entered;
};

/* Begins and enters a span: "name[@target][!LEVEL]{...}+{...}>{...}". */
static struct spanned enter(char *text, const char *target, size_t depth)
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

    struct trace_span_ref entered = test_block(depth, NULL, &span, 0, NULL);

    record_late(span, group(&groups, '>'));
    free(rest);
    return (struct spanned){span, entered};
}

static void record_event(struct test_cases *row)
{
    struct made *event = make(TRACE_SITE_EVENT, test_level(row->columns[1]), "",
                              row->columns[2], row->columns[4]);

    trace_event_(&event->site, event->site.field_count, event->values);
}

char *format_lines(struct test_cases *row, const struct log_style *style)
{
    struct spanned spans[SPANS];
    char *rest = row->columns[3], *span;
    size_t depth = 0;

    made_count = 0;
    prctl(PR_SET_NAME, "main");
    test_record();
    while ((span = strsep(&rest, ";")) && *span) {
        spans[depth] = enter(span, row->columns[2], depth);
        depth++;
    }
    record_event(row);
    while (depth) {
        trace_span_leave_(spans[--depth].entered);
        trace_span_end(spans[depth].span);
    }

    return test_lines(test_read(), "trace", style);
}

/* ---- Deviations ---- */

/* Newlines are escaped in display text, too, so that a line stays one line. */
#define NEWLINES                                                               \
    {7, "\\x7f\nnew", "\\x7f\\nnew"},                                          \
    {                                                                          \
        7, "raw\033[31m\nline", "raw\\x1b[31m\\nline"                          \
    }

const struct format_deviation format_text[] = {
    /* A field that is recorded again is replaced. */
    {5, "late=5 late=6", "late=6"},
    NEWLINES,
    /* "r#" and the hidden fields "log.*" are specific to Rust. */
    {8, " type=1 ", " r#type=1 log.x=1 "},
    {0},
};

#define NAME(name) "\033[3m" name "\033[0m\033[2m=\033[0m"

const struct format_deviation format_colors[] = {
    {5, NAME("late") "5 " NAME("late") "6", NAME("late") "6"},
    NEWLINES,
    {8, NAME("type") "1 ", NAME("r#type") "1 " NAME("log.x") "1 "},
    {0},
};

/* ---- Recorded answers ---- */

struct answers {
    char *text, *at;
};

static struct answers answers_open(const char *name)
{
    char path[512];
    struct answers answers;
    size_t size;

    snprintf(path, sizeof(path), "%s/cases/formats/%s", TESTS_DIR, name);
    answers.text = answers.at = test_load(path, &size);
    for (char *nul; (nul = memchr(answers.text, '\0', size));)
        *nul = FORMAT_NUL;
    return answers;
}

/* Appends a text and replaces each `from` in it, which must occur, by `to`. */
static void add_replaced(struct trace_text *out, const char *text,
                         const char *from, const char *to, bool any)
{
    for (const char *at; (at = strstr(text, from)); text = at + strlen(from)) {
        any = true;
        trace_text_add(out, text, (size_t)(at - text));
        trace_text_string(out, to);
    }
    trace_text_string(out, text);
    cr_expect(any, "no \"%s\" to replace", from);
}

/* Returns the lines of the next answer, to be freed. */
static struct trace_text answer_next(struct answers *answers)
{
    struct trace_text lines = {0};
    char *line = strsep(&answers->at, "\n");

    cr_assert(line && line[0] == '1');
    while (answers->at && answers->at[0] == '|') {
        line = strsep(&answers->at, "\n") + 2;
        add_replaced(&lines, line, "\\e[", "\033[", true);
        trace_text_char(&lines, '\n');
    }
    return lines;
}

static char *deviated(struct trace_text answer, size_t row,
                      const struct format_deviation *deviations)
{
    for (; deviations && deviations->row; deviations++) {
        struct trace_text ours = {0};

        if (deviations->row != row)
            continue;
        add_replaced(&ours, answer.data, deviations->theirs, deviations->ours,
                     false);
        trace_text_free(&answer);
        answer = ours;
    }
    return answer.data;
}

void format_normalise(char *lines, bool colors)
{
    char *to = lines;

    for (char *at = lines; *at;) {
        if (!strncmp(at, "ThreadId(", 9)) {
            at += strcspn(at, ")");
            memmove(to, "ThreadId(#", 10);
            to += 10;
        } else if (colors && *at == '\033') {
            at += strcspn(at, "m") + 1;
        } else {
            *to++ = *at++;
        }
    }
    *to = '\0';
}

size_t format_check(const char *cases, const char *answers_name,
                    const struct log_style *style,
                    const struct format_deviation *deviations)
{
    struct answers answers = answers_open(answers_name);
    struct test_cases row;
    size_t rows = 0;

    test_cases_open(&row, cases);
    while (test_cases_next(&row)) {
        char *lines = format_lines(&row, style);
        char *answer = deviated(answer_next(&answers), ++rows, deviations);

        format_normalise(lines, false);
        format_normalise(answer, false);
        cr_expect_str_eq(lines, answer, "%s row %zu:\n%s---\n%s", answers_name,
                         rows, lines, answer);
        free(answer);
    }
    free(answers.text);
    return rows;
}

size_t format_check_plain(const char *cases, const struct log_style *style)
{
    struct log_style plain = *style, color = *style;
    struct test_cases row, again;
    size_t rows = 0;

    plain.color = false;
    color.color = true;
    test_cases_open(&row, cases);
    test_cases_open(&again, cases);
    for (; test_cases_next(&row) && test_cases_next(&again); rows++) {
        char *bare = format_lines(&row, &plain);
        char *colored = format_lines(&again, &color);

        cr_expect_neq(strchr(colored, '\033'), NULL);
        format_normalise(colored, true);
        format_normalise(bare, false);
        cr_expect_str_eq(colored, bare);
    }
    cr_assert_not(test_cases_next(&again));
    return rows;
}
