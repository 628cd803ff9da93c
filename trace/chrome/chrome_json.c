/* chrome_json.c: writes one trace event at a time. */
#include "chrome_json.h"
#include "trace/base/values.h"

void trace_chrome_put(struct trace_exporter *export)
{
    struct trace_chrome *chrome = export->chrome;
    size_t skip = chrome->some ? 0 : 1;

    if (export->text.failed)
        return;
    fwrite(export->text.data + skip, 1, export->text.size - skip,
           chrome->stream);
    chrome->some = true;
}

void trace_chrome_metadata(struct trace_exporter *export, const char *kind,
                           uint32_t pid, uint32_t tid, const char *key,
                           const char *value)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_text_printf(text,
                      ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"ts\":0.000,"
                      "\"name\":\"%s\",\"args\":{\"%s\":",
                      pid, tid, kind, key);
    trace_chrome_string(text, value);
    trace_chrome_literal(text, "}}");
    trace_chrome_put(export);
}

void trace_chrome_index(struct trace_exporter *export, const char *kind,
                        uint32_t pid, uint32_t tid, int64_t index)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_text_printf(text,
                      ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"ts\":0.000,"
                      "\"name\":\"%s\",\"args\":{\"sort_index\":%lld}}",
                      pid, tid, kind, (long long)index);
    trace_chrome_put(export);
}

void trace_chrome_key(struct trace_text *text, const char *key)
{
    if (text->size && text->data[text->size - 1] != '{')
        trace_text_char(text, ',');
    trace_chrome_string(text, key);
    trace_text_char(text, ':');
}

void trace_chrome_place_text(struct trace_text *text, const char *file,
                             unsigned line)
{
    struct trace_text place = {0};

    trace_text_printf(&place, "%s:%u", file, line);
    trace_chrome_string(text, place.data ? place.data : "");
    trace_text_free(&place);
}

bool trace_chrome_has(const struct trace_site *site, size_t from,
                      const char *name)
{
    for (size_t i = from; i < site->field_count; i++)
        if (!strcmp(site->fields[i], name))
            return true;
    return false;
}

bool trace_chrome_is_number(struct trace_value *value)
{
    double number;

    if (!trace_number_of(value, &number))
        return false;
    if (value->type == TRACE_TYPE_BOOL)
        value->type = TRACE_TYPE_U64;
    return true;
}
