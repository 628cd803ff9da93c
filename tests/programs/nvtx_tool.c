/* nvtx_tool.c: a tool that receives NVTX and writes a line for each call to the
 * file in NVTX_TOOL_LOG. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "trace/devices/nvtx/nvtx_abi.h"

static void say(const char *format, ...)
{
    const char *path = getenv("NVTX_TOOL_LOG");
    FILE *file = fopen(path ? path : "/dev/null", "a");
    va_list args;

    va_start(args, format);
    vfprintf(file, format, args);
    va_end(args);
    fclose(file);
}

/* A handle is a copy of the text. */
static nvtx_handle create(const char *name)
{
    say("domain %s\n", name);
    return strdup(name);
}

static nvtx_handle keep(nvtx_handle domain, const char *text)
{
    (void)domain;
    return strdup(text);
}

static void name_category(nvtx_handle domain, uint32_t category,
                          const char *name)
{
    say("category %s %u %s\n", (char *)domain, category, name);
}

static void say_attributes(const char *call, nvtx_handle domain,
                           const struct nvtx_attributes *given)
{
    say("%s %s %s category=%u", call, domain ? (char *)domain : "default",
        given->text_type == NVTX_TEXT_HANDLE ? (char *)given->text.handle
                                             : given->text.ascii,
        given->category);
    if (given->payload_type == NVTX_NUMBER_F64)
        say(" payload=%g", given->payload.f64);
    else if (given->payload_type)
        say(" payload=%lld", (long long)given->payload.i64);
    say("\n");
}

static int push(nvtx_handle domain, const struct nvtx_attributes *given)
{
    say_attributes("push", domain, given);
    return 0;
}

static int pop(nvtx_handle domain)
{
    say("pop %s\n", domain ? (char *)domain : "default");
    return 0;
}

static void mark(nvtx_handle domain, const struct nvtx_attributes *given)
{
    say_attributes("mark", domain, given);
}

static int push_plain(const char *text)
{
    say("push default %s\n", text);
    return 0;
}

static int pop_plain(void)
{
    say("pop default\n");
    return 0;
}

static void set(nvtx_function **table, unsigned number, nvtx_function function)
{
    *table[number] = function;
}

static nvtx_get_table *client;

void nvtx_tool_start(void);

void nvtx_tool_start(void)
{
    const struct nvtx_callbacks *callbacks = client(NVTX_TABLE_CALLBACKS);
    nvtx_function **table;
    unsigned entries;

    callbacks->table(NVTX_IN_CORE, &table, &entries);
    set(table, NVTX_RangePushA, (nvtx_function)push_plain);
    set(table, NVTX_RangePop, (nvtx_function)pop_plain);
    callbacks->table(NVTX_IN_CORE2, &table, &entries);
    set(table, NVTX_DomainCreateA, (nvtx_function)create);
    set(table, NVTX_DomainNameCategoryA, (nvtx_function)name_category);
    set(table, NVTX_DomainRangePushEx, (nvtx_function)push);
    set(table, NVTX_DomainRangePop, (nvtx_function)pop);
    set(table, NVTX_DomainMarkEx, (nvtx_function)mark);
    if (!getenv("NVTX_TOOL_NO_STRINGS"))
        set(table, NVTX_DomainRegisterStringA, (nvtx_function)keep);
}

int InitializeInjectionNvtx2(nvtx_get_table *get_table);

int InitializeInjectionNvtx2(nvtx_get_table *get_table)
{
    const struct nvtx_callbacks *callbacks = get_table(NVTX_TABLE_CALLBACKS);
    const struct nvtx_version_info *version = get_table(NVTX_TABLE_VERSION);
    nvtx_function **table;
    unsigned entries;

    say("attached to version %u\n", version->version);
    version->set_injection_version(NVTX_IS_VERSION);
    for (uint32_t module = NVTX_IN_CORE; module <= NVTX_IN_SYNC; module++) {
        if (!callbacks->table(module, &table, &entries))
            return 0;
        for (unsigned i = 1; i < entries; i++)
            if (!table[i])
                return 0;
    }
    client = get_table;
    if (!getenv("NVTX_TOOL_LATE")) /* otherwise as CUPTI */
        nvtx_tool_start();
    return 1;
}
