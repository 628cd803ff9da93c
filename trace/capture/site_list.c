/* site_list.c: tells testlog capture the call sites of a program. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server.h"
#include "trace/base/containers.h"

/* A call site in a message, followed by strings: its name, target, file and
 * function, and the names of its fields. */
struct listed {
    uint32_t line;
    uint8_t level, kind, field_count, unused;
};

/* ---- Writing ---- */

struct putting {
    struct trace_text *text;
    struct trace_site_list *list;
};

/* With its NUL; NULL is "". */
static void put_string(struct trace_text *text, const char *string)
{
    trace_text_add(text, string ? string : "", string ? strlen(string) + 1 : 1);
}

static void put_site(struct trace_site *site, void *context)
{
    const struct putting *putting = context;
    struct trace_site_list *list = putting->list;
    const struct listed listed = {site->line, site->level, site->kind,
                                  site->field_count, 0};

    if (!TRACE_ARRAY_RESERVE(list->sites, list->capacity, list->count + 1))
        return;
    list->sites[list->count++] = site;
    trace_text_add(putting->text, &listed, sizeof(listed));
    put_string(putting->text, site->name);
    put_string(putting->text, site->target);
    put_string(putting->text, site->file);
    put_string(putting->text, site->function);
    for (size_t i = 0; i < site->field_count; i++)
        put_string(putting->text, site->fields[i]);
}

void trace_site_list_put(struct trace_text *text, struct trace_site_list *list)
{
    uint32_t pid = (uint32_t)getpid();
    struct putting putting = {text, list};

    trace_text_add(text, &pid, sizeof(pid));
    put_string(text, program_invocation_name);
    trace_site_each(put_site, &putting);
}

/* ---- Reading ---- */

struct reading {
    const unsigned char *at, *end;
    bool failed;
};

static void take(struct reading *reading, void *to, size_t size)
{
    if ((size_t)(reading->end - reading->at) < size) {
        reading->failed = true;
        memset(to, 0, size);
        return;
    }
    memcpy(to, reading->at, size);
    reading->at += size;
}

static const char *take_string(struct reading *reading)
{
    const char *string = (const char *)reading->at;
    size_t left = (size_t)(reading->end - reading->at);
    size_t size = strnlen(string, left);

    if (size == left) {
        reading->failed = true;
        return "";
    }
    reading->at += size + 1;
    return string;
}

static struct trace_site *take_site(struct reading *reading)
{
    struct listed listed;
    struct trace_site *site;
    const char **fields;

    take(reading, &listed, sizeof(listed));
    site = calloc(1, sizeof(*site) + listed.field_count * sizeof(*fields));
    if (!site)
        return NULL;
    fields = (const char **)(site + 1);
    site->line = listed.line;
    site->level = listed.level;
    site->kind = listed.kind;
    site->name = take_string(reading);
    site->target = take_string(reading);
    site->file = take_string(reading);
    site->function = take_string(reading);
    site->fields = fields;
    site->field_count = listed.field_count;
    for (size_t i = 0; i < listed.field_count; i++)
        fields[i] = take_string(reading);
    return site;
}

int trace_site_list_read(const struct trace_message *message, uint32_t *pid,
                         const char **program, struct trace_site_list *list)
{
    struct reading reading = {message->bytes, message->bytes + message->size,
                              false};

    *list = (struct trace_site_list){0};
    take(&reading, pid, sizeof(*pid));
    *program = take_string(&reading);
    while (!reading.failed && reading.at < reading.end) {
        if (!TRACE_ARRAY_RESERVE(list->sites, list->capacity, list->count + 1))
            break;
        list->sites[list->count] = take_site(&reading);
        if (!list->sites[list->count])
            break;
        list->count++;
    }
    if (!reading.failed && reading.at == reading.end)
        return 0;
    trace_site_list_free(list);
    errno = EPROTO;
    return -1;
}

void trace_site_list_free(struct trace_site_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        free(list->sites[i]);
    free(list->sites);
    *list = (struct trace_site_list){0};
}
