/* notice.h: testlog's own lines, and text that is safe to print. Private. */
#ifndef TESTLOG_NOTICE_H
#define TESTLOG_NOTICE_H

#include <stdio.h>

#include <testlog/log.h>

/* test_log_variable returns an environment variable, NULL if unset or empty. */
const char *test_log_variable(const char *name);

/* ---- notice.c ---- */

/* test_log_out is the stderr that the program was started with. NULL: stderr */
extern FILE *test_log_out;

/* test_log_stream returns where notices go. */
FILE *test_log_stream(void);

/* test_log_notice prints one line, beginning with "testlog: ", without control
 * bytes. */
void test_log_notice(const char *format, ...) TRACE_PRINTF(1, 2);

/* test_log_complain prints the text that a filter's parser or its advice
 * wrote. */
void test_log_complain(const struct trace_text *);

/* ---- shown_path.c ---- */

/* test_log_shown_path returns a path relative to the working directory if the
 * file is below it, otherwise the path. The result may be in `buffer`, which
 * has PATH_MAX bytes. */
const char *test_log_shown_path(const char *path, char *buffer);

/* test_log_shown_file does so with a file of a run, unless
 * test_log_show_whole_files was called: the user is in another folder. */
const char *test_log_shown_file(const char *path, char *buffer);
void test_log_show_whole_files(void);

/* ---- sanitize_text.c ---- */

/* test_log_sanitize adds text of any bytes as UTF-8 that XML, YAML and JSON
 * accept: '?' for control characters other than newline and tab, U+FFFD for
 * invalid UTF-8 and for characters that reorder text. test_log_sanitize_line
 * replaces newlines and tabs by spaces, too. */
void test_log_sanitize(struct trace_text *, const char *, size_t size);
void test_log_sanitize_line(struct trace_text *, const char *);

/* test_log_add_word adds a word as a shell reads it, quoted if necessary;
 * test_log_add_words adds several, NULL at the end, with blanks between
 * them and before the first if the text is not empty. */
void test_log_add_word(struct trace_text *, const char *word);
void test_log_add_words(struct trace_text *, char *const *words);

/* test_log_join_lines joins the lines of a reason (or NULL) whose first line
 * only announces the others, "Expected equality of these values:", up to a line
 * that would be too long: summaries show one line. */
void test_log_join_lines(char *reason);

/* test_log_keep_end shortens a text that is longer than `most` to its last
 * lines, and returns how many bytes it removed. */
size_t test_log_keep_end(struct trace_text *, size_t most);

/* test_log_put_xml writes a text of XML or HTML, without its control
 * characters; test_log_put_xml_text one of `size` bytes, whose lines stay, but
 * in an attribute. */
void test_log_put_xml(FILE *, const char *text);
void test_log_put_xml_text(FILE *, const char *text, size_t size,
                           bool attribute);

/* test_log_write_all writes all bytes; -1 with errno, for example when a pipe
 * has no reader. */
int test_log_write_all(int fd, const char *data, size_t size);

#endif
