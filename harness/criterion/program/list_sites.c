/* list_sites.c: --list-sites, the call sites of a program as lines of JSON. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "harness/options/options.h"
#include "program.h"
#include "trace/base/text.h"

static const char *const kinds[] = {
    [TRACE_SITE_EVENT] = "event",
    [TRACE_SITE_SPAN] = "span",
    [TRACE_SITE_COUNTER] = "counter",
    [TRACE_SITE_SIGNPOST] = "signpost",
};

/* Writes one JSON object per line. The format of a printf call is unknown until
 * the call has run, so its site has no name. */
static void put_site(struct trace_site *site, void *context)
{
    struct trace_text *out = context;

    if (site->kind == TRACE_SITE_FIELDS)
        return;
    trace_text_printf(out, "{\"kind\":\"%s\",\"level\":\"%s\",\"line\":%u",
                      kinds[site->kind], trace_level_word(site->level),
                      site->line);
    trace_json_member(out, "target", site->target);
    trace_json_member(out, "file", site->file);
    if (site->name)
        trace_json_member(out, "name", site->name);
    trace_text_string(out, ",\"fields\":[");
    for (size_t i = 0; i < site->field_count; i++) {
        if (i)
            trace_text_char(out, ',');
        trace_json_string(out, site->fields[i], strlen(site->fields[i]));
    }
    trace_text_string(out, "]}\n");
}

int test_log_list_sites(FILE *stream)
{
    struct trace_text text = {0};
    bool failed;
    int error;

    test_log_unused_sites_find();
    trace_site_each(put_site, &text);
    if (text.size)
        fwrite(text.data, 1, text.size, stream);
    if (text.failed)
        errno = ENOMEM;
    failed = text.failed || fflush(stream) || ferror(stream);
    error = errno;
    trace_text_free(&text);
    errno = error;
    return failed ? -1 : 0;
}
