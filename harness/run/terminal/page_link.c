/* page_link.c: prints where report.html is, as a link on terminals that open
 * links (OSC 8). */
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/terminal/terminal.h"
#include "trace/base/strings.h"

/* Terminals ignore longer addresses. */
enum { ADDRESS_MOST = 2083 };

/* Adds text in which every byte is escaped that is no letter or digit and not
 * among `plain`. */
static void add_escaped(struct trace_text *text, const char *words,
                        const char *plain)
{
    for (; *words; words++) {
        unsigned char c = (unsigned char)*words;

        if ((c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') ||
            (c >= 'a' && c <= 'z') || strchr(plain, c))
            trace_text_char(text, (char)c);
        else
            trace_text_printf(text, "%%%02X", c);
    }
}

void test_log_page_fragment(struct trace_text *text,
                            const struct test_log_run *run,
                            const struct test_log_result *result)
{
    /* What state.js leaves as it is. */
    static const char plain[] = "-_.!~*'()/:,[]={}";

    trace_text_string(text, "#view=log&test=");
    if (run->parent.beside && result->program) {
        add_escaped(text, result->program, plain);
        trace_text_char(text, ':');
    }
    add_escaped(text, test_log_name(result), plain);
}

/* Adds the address of a file that may not exist yet in a folder that does;
 * false if there is none. */
static bool add_address(struct trace_text *text, const char *path,
                        const char *fragment)
{
    const char *name = trace_base_name(path);
    char folder[PATH_MAX], real[PATH_MAX], host[HOST_NAME_MAX + 1] = "";

    if (snprintf(folder, sizeof(folder), "%.*s.", (int)(name - path), path) >=
            PATH_MAX ||
        !realpath(folder, real))
        return false;
    gethostname(host, sizeof(host) - 1);
    trace_text_string(text, "file://");
    add_escaped(text, host, "-.");
    add_escaped(text, real, "-_.~/");
    trace_text_char(text, '/');
    add_escaped(text, name, "-_.~");
    /* Some terminals refuse brackets and braces. */
    add_escaped(text, fragment, "-_.!~*'()/:,=&#%");
    return !text->failed && text->size <= ADDRESS_MOST;
}

void test_log_print_page(const char *path, const char *fragment,
                         const struct test_log_output *output)
{
    struct trace_text shown = {0}, address = {0};
    char buffer[PATH_MAX];
    const char *relative = test_log_shown_file(path, buffer);
    bool links =
        output && output->links && add_address(&address, path, fragment);

    log_plain(&shown, relative, strlen(relative));
    log_plain(&shown, fragment, strlen(fragment));
    fprintf(test_log_stream(), "report: %s%s%s%s%s\n", links ? "\033]8;;" : "",
            links ? address.data : "", links ? "\033\\" : "",
            shown.data ? shown.data : "", links ? "\033]8;;\033\\" : "");
    fflush(test_log_stream());
    trace_text_free(&address);
    trace_text_free(&shown);
}

bool test_log_find_page(const struct test_log_run *run, char *path)
{
    return run->path && !test_log_path(run, "report.html", path) &&
           !access(path, R_OK);
}
