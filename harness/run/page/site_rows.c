/* site_rows.c: the rows of call sites and of fields. */
#include "harness/run/page/recorded.h"
#include "log/replay/entry_text.h"
#include "trace/base/text.h"

const struct test_log_table_kind test_log_site_kind = {
    "sites",
    7,
    {{"name", TEST_LOG_NUMBER},
     {"target", TEST_LOG_NUMBER},
     {"file", TEST_LOG_NUMBER},
     {"line", TEST_LOG_NUMBER},
     {"function", TEST_LOG_NUMBER},
     {"level", TEST_LOG_NUMBER},
     {"kind", TEST_LOG_NUMBER}}};

/* ---- Call sites ---- */

static const char *site_word(const struct trace_site *site)
{
    static const char *const words[] = {
        [TRACE_SITE_EVENT] = "event",     [TRACE_SITE_SPAN] = "span",
        [TRACE_SITE_COUNTER] = "counter", [TRACE_SITE_SIGNPOST] = "signpost",
        [TRACE_SITE_DEVICE] = "device",
    };
    size_t count = sizeof(words) / sizeof(*words);

    return site->kind < count && words[site->kind] ? words[site->kind] : "";
}

static struct test_log_site_row add_site(struct test_log_recorded *recorded,
                                         const struct trace_site *site)
{
    struct test_log_table *sites = &recorded->tables[TEST_LOG_SITES];
    struct test_log_strings *strings = &recorded->strings;
    struct test_log_site_row row = {site, (uint32_t)test_log_table_next(sites),
                                    test_log_strings_of(strings, site->name),
                                    recorded->block};

    TEST_LOG_ROW(sites, row.name, test_log_strings_of(strings, site->target),
                 test_log_strings_of(strings, site->file), site->line,
                 test_log_strings_of(strings, site->function), site->level,
                 test_log_strings_of(strings, site_word(site)));
    return row;
}

/* Call sites that were lost have number 0. */
struct test_log_site_row test_log_recorded_site(
    struct test_log_recorded *recorded, const struct trace_site *site)
{
    struct test_log_site_row *row;

    if (!TRACE_ARRAY_RESERVE(recorded->sites, recorded->site_count,
                             site->id + 1))
        return (struct test_log_site_row){.site = NULL};
    row = &recorded->sites[site->id];
    if (row->site != site)
        *row = add_site(recorded, site);
    if (row->block != recorded->block)
        row->name = test_log_strings_of(&recorded->strings, site->name);
    row->block = recorded->block;
    return *row;
}

/* ---- Fields ---- */

size_t test_log_recorded_field(struct test_log_recorded *recorded,
                               enum test_log_recorded_table table,
                               const char *name,
                               const struct trace_value *value)
{
    struct test_log_strings *strings = &recorded->strings;
    struct trace_text *text = &recorded->text;

    if (value->type == TRACE_TYPE_EMPTY)
        return 0;
    trace_text_clear(text);
    log_value(text, value);
    TEST_LOG_ROW(&recorded->tables[table], test_log_strings_of(strings, name),
                 test_log_strings_add(strings, text->data, text->size));
    return 1;
}
