/* github.c: GitHub's workflow commands: a group for each failed test's block,
 * an annotation for each of the first failed tests.
 *
 * Tests could print commands, too, so GitHub is told to ignore commands while
 * tests run. Each of ours is one write(2), between the token that enables
 * commands and the one that stops them. Tests never see the token.
 */
#include <ctype.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "trace/base/strings.h"

/* GitHub shows ten annotations per step. Names and messages are cut so that a
 * command fits in one write to a pipe. */
enum { ANNOTATIONS = 10, NAME_MAX_SHOWN = 200, MESSAGE_MAX_SHOWN = 800 };

static char token[33]; /* "": no commands are written */
static bool is_part;

static void put(const struct trace_text *text)
{
    FILE *out = test_log_stream();

    fflush(out);
    if (!text->failed && write(fileno(out), text->data, text->size) < 0)
        return; /* the output is closed */
}

/* Begins with a newline, because a test may have left a line open. */
static void command(const char *text)
{
    struct trace_text all = {0};

    trace_text_printf(&all, "\n::%s::\n%s\n::stop-commands::%s\n", token, text,
                      token);
    put(&all);
    trace_text_free(&all);
}

static bool make_token(void)
{
    unsigned char bytes[16];

    if (getrandom(bytes, sizeof(bytes), 0) != sizeof(bytes))
        return false;
    for (size_t i = 0; i < sizeof(bytes); i++)
        snprintf(token + 2 * i, 3, "%02x", bytes[i]);
    return true;
}

bool test_log_github_wanted(const struct test_log_run *run)
{
    const char *actions = getenv("GITHUB_ACTIONS");

    return actions && !strcmp(actions, "true") && !run->parent.nested;
}

void test_log_github_begin(const struct test_log_run *run)
{
    const char *given = run->parent.token;
    struct trace_text text = {0};

    token[0] = '\0';
    is_part = run->role != TEST_LOG_ROLE_WHOLE;
    if (is_part && given)
        snprintf(token, sizeof(token), "%s", given);
    if (is_part || !test_log_github_wanted(run) || !make_token())
        return;
    trace_text_printf(&text, "::stop-commands::%s\n", token);
    put(&text);
    trace_text_free(&text);
}

const char *test_log_github_token(void)
{
    return token[0] ? token : NULL;
}

/* ---- Escapes ---- */

static size_t cut(const char *text, size_t size, size_t most)
{
    return size <= most ? size : trace_utf8_boundary(text, most);
}

static void add_data(struct trace_text *out, const char *text, size_t size,
                     bool property)
{
    struct trace_text clean = {0};

    test_log_sanitize(&clean, text, size);
    for (size_t i = 0; i < clean.size; i++) {
        unsigned char c = (unsigned char)clean.data[i];

        if (c == '%' || c == '\n' || (property && (c == ':' || c == ',')))
            trace_text_printf(out, "%%%02X", c);
        else
            trace_text_char(out, (char)c);
    }
    trace_text_free(&clean);
}

static void add_name(struct trace_text *out,
                     const struct test_log_result *result, bool property)
{
    const char *name = test_log_title(result);

    add_data(out, name, cut(name, strlen(name), NAME_MAX_SHOWN), property);
}

/* "failed: why" */
static void add_outcome(struct trace_text *out,
                        const struct test_log_result *result, size_t size)
{
    const char *reason = result->reason ? result->reason : "";

    trace_text_string(out, test_log_outcome_text(result->outcome));
    if (!reason[0])
        return;
    trace_text_string(out, ": ");
    add_data(out, reason, cut(reason, size, MESSAGE_MAX_SHOWN), false);
}

/* ---- Groups ---- */

void test_log_github_group(const struct test_log_result *result)
{
    struct trace_text text = {0};

    if (!token[0])
        return;
    trace_text_string(&text, "::group::");
    add_name(&text, result, false);
    trace_text_string(&text, ": ");
    add_outcome(&text, result,
                result->reason ? strcspn(result->reason, "\r\n") : 0);
    if (text.data)
        command(text.data);
    trace_text_free(&text);
}

void test_log_github_endgroup(void)
{
    if (token[0])
        command("::endgroup::");
}

/* ---- Annotations ---- */

/* Converts a compiler's file name to GitHub's, which is relative to the
 * workspace. The compiler's may be relative to the working directory or, with
 * "../", to a build system's folder. `real` has PATH_MAX bytes. */
static const char *name_in_workspace(const char *workspace, const char *file,
                                     char *real)
{
    char root[PATH_MAX], path[PATH_MAX];
    const char *inner = file;

    if (!realpath(workspace, root))
        return trace_path_below(file, workspace);
    if (realpath(file, real) && trace_path_below(real, root))
        return trace_path_below(real, root);
    while (!strncmp(inner, "../", 3) || !strncmp(inner, "./", 2))
        inner = strchr(inner, '/') + 1;
    if (inner[0] != '/' &&
        snprintf(path, sizeof(path), "%s/%s", root, inner) < PATH_MAX &&
        realpath(path, real))
        return trace_path_below(real, root);
    return trace_path_below(file, workspace);
}

static void add_place(struct trace_text *text,
                      const struct test_log_result *result)
{
    const char *workspace = test_log_variable("GITHUB_WORKSPACE"), *found;
    char file[PATH_MAX], real[PATH_MAX];
    const struct test_log_place place = test_log_place_of(result);

    if (!place.size || place.size > PATH_MAX / 4)
        return;
    snprintf(file, sizeof(file), "%.*s", (int)place.size, place.file);
    found = workspace ? name_in_workspace(workspace, file, real) : NULL;
    found = found ? found : file;
    trace_text_string(text, "file=");
    add_data(text, found, strlen(found), true);
    trace_text_printf(text, ",line=%u,", place.line);
}

static void annotate(const struct test_log_result *result)
{
    struct trace_text text = {0};

    trace_text_string(&text, "::error ");
    add_place(&text, result);
    trace_text_string(&text, "title=");
    add_name(&text, result, true);
    trace_text_string(&text, "::");
    add_outcome(&text, result, result->reason ? strlen(result->reason) : 0);
    if (text.data)
        command(text.data);
    trace_text_free(&text);
}

void test_log_github_end(const struct test_log_run *run)
{
    struct trace_text text = {0};
    size_t count = 0;

    if (!token[0] || is_part)
        return;
    for (size_t i = 0; i < run->count && count < ANNOTATIONS; i++)
        if (test_log_failed(&run->results[i])) {
            annotate(&run->results[i]);
            count++;
        }
    trace_text_printf(&text, "\n::%s::\n", token);
    put(&text);
    trace_text_free(&text);
    token[0] = '\0';
}
