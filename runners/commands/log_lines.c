/* log_lines.c: prints the lines of a recording. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/replay/replay.h"
#include "log_lines.h"
#include "trace/base/strings.h"

enum {
    TERMINAL_MAX = 4096, /* bytes of a line, or of a message in pretty */
    ESCAPE_MAX = 16,     /* bytes of an escape sequence */
};

/* ---- Beginning ---- */

/* Prints once that the filter may want lines that were not recorded. */
static void say_what_is_missing(const struct trace_reader *reader,
                                const char *text)
{
    static bool said;
    const char *record = trace_reader_meta(reader, "filter");
    const char *shown = trace_reader_meta(reader, "log");

    if (said || !record || !strcmp(record, "trace") ||
        (shown && !strcmp(shown, text)))
        return;
    said = true;
    fprintf(stderr,
            "testlog: log: only events that match \"%s\"%s%s%s were "
            "recorded; \"%s\" cannot show others\n",
            record, shown ? " or \"" : "", shown ? shown : "",
            shown ? "\"" : "", text);
}

int runners_lines_begin(struct log_lines *lines,
                        const struct log_settings *settings,
                        struct trace_reader *reader)
{
    const char *text = settings->text;

    *lines = (struct log_lines){.settings = settings, .reader = reader};
    if (!text)
        text = trace_reader_meta(reader, "log");
    if (!text)
        text = "info";
    say_what_is_missing(reader, text);
    if (!settings->filter)
        lines->own = log_filter_parse(text, "info", "--filter", NULL);
    if (lines->own || settings->filter)
        lines->replay =
            log_replay_new(lines->own ? lines->own : settings->filter);
    if (!lines->replay)
        return -1;
    if (settings->last_values)
        log_replay_use_last_values(lines->replay);
    return 0;
}

/* ---- Lines ---- */

static void print_heading(const struct recording *recording)
{
    printf("---- %s%s%s ----\n", recording->program,
           *recording->program ? " " : "", recording->title);
}

/* Returns the size of a text that is cut at `most` bytes, but neither inside a
 * character nor inside an escape sequence that sets a colour. */
static size_t cut_size(const struct trace_text *text, size_t most)
{
    size_t size = trace_utf8_boundary(text->data, most);

    for (size_t i = size; i && size - i < ESCAPE_MAX; i--)
        if (text->data[i - 1] == '\033')
            return memchr(text->data + i, 'm', size - i) ? size : i - 1;
    return size;
}

/* A terminal gets only the beginning of a very long line. */
static void print_text(const struct trace_text *text,
                       const struct log_style *style)
{
    static int terminal = -1;

    if (terminal < 0)
        terminal = isatty(STDOUT_FILENO);
    if (!terminal || style->format == LOG_FORMAT_JSON ||
        text->size <= TERMINAL_MAX) {
        fwrite(text->data, 1, text->size, stdout);
        return;
    }
    fwrite(text->data, 1, cut_size(text, TERMINAL_MAX), stdout);
    printf("%s... (%zu bytes; testlog log ... | cat prints all)\n",
           style->color ? "\033[0m" : "", text->size);
}

void runners_lines_print(struct log_lines *lines, struct recording *recording,
                         bool several)
{
    const struct log_settings *settings = lines->settings;
    struct log_style style = settings->style;
    bool named = settings->follow || style.format == LOG_FORMAT_JSON;
    struct trace_text text = {0};
    struct trace_entry entry;

    style.all_spans = true;
    if (several && named)
        style.test = style.format == LOG_FORMAT_JSON ? recording->test
                                                     : recording->title;
    while (trace_reader_next(lines->reader, &entry)) {
        trace_text_clear(&text);
        if (!log_line(lines->replay, &style, lines->reader, &entry, &text))
            continue;
        if (several && !named && !recording->lines)
            print_heading(recording);
        recording->lines++;
        print_text(&text, &style);
    }
    trace_text_free(&text);
}

/* ---- The end ---- */

static void see_sites(struct log_filter *filter,
                      const struct trace_reader *reader)
{
    for (uint32_t id = 1; trace_reader_site(reader, id); id++)
        log_filter_seen(filter, trace_reader_site(reader, id));
}

void runners_lines_end(struct log_lines *lines,
                       const struct recording *recording)
{
    const struct log_settings *settings = lines->settings;

    if (settings->filter)
        see_sites(settings->filter, lines->reader);
    runners_losses_note(settings->losses, recording, lines->reader);
    log_replay_free(lines->replay);
    log_filter_free(lines->own);
    trace_reader_close(lines->reader);
}
