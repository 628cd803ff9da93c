/* site_table.c: call sites that are made at run time. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/strings.h"
#include "trace/device.h"

enum { PROBES = 16 };

static bool is_same(const char *wanted, const char *text)
{
    return !wanted || (text && !strcmp(wanted, text));
}

static bool is_site(const struct trace_site *site,
                    const struct trace_site *wanted)
{
    return site->kind == wanted->kind && site->level == wanted->level &&
           site->line == wanted->line && site->fields == wanted->fields &&
           is_same(wanted->name, site->name) &&
           is_same(wanted->target, site->target) &&
           is_same(wanted->file, site->file);
}

static uint64_t add_string(uint64_t hash, const char *text)
{
    return text ? trace_hash_string(hash, text) : hash;
}

static uint64_t hash_of(const struct trace_site *site)
{
    const uint32_t numbers[] = {site->line, site->level, site->kind,
                                site->field_count};
    uint64_t hash = trace_hash(TRACE_HASH, numbers, sizeof(numbers));

    hash = add_string(hash, site->name);
    hash = add_string(hash, site->target);
    return add_string(hash, site->file);
}

static size_t room_of(const char *text)
{
    return text ? strlen(text) + 1 : 0;
}

/* Copies a text to `room`, which it advances. */
static const char *copy(const char *text, char **room)
{
    char *to = *room;

    if (!text)
        return NULL;
    *room += room_of(text);
    return memcpy(to, text, room_of(text));
}

static struct trace_site *copy_of(const struct trace_site *wanted)
{
    struct trace_site *site =
        malloc(sizeof(*site) + room_of(wanted->name) + room_of(wanted->target) +
               room_of(wanted->file));
    char *room;

    if (!site)
        return NULL;
    *site = *wanted;
    room = (char *)(site + 1);
    site->name = copy(wanted->name, &room);
    site->target = copy(wanted->target, &room);
    site->file = copy(wanted->file, &room);
    return site;
}

/* A slot belongs to the thread that fills it first. */
struct trace_site *trace_site_find(struct trace_site **table, size_t size,
                                   const struct trace_site *wanted)
{
    uint64_t first = hash_of(wanted);

    for (size_t i = 0; i < PROBES; i++) {
        struct trace_site **slot = &table[(first + i) % size], *made = NULL;
        struct trace_site *site = __atomic_load_n(slot, __ATOMIC_ACQUIRE);

        if (!site && !(made = copy_of(wanted)))
            return NULL;
        if (made &&
            __atomic_compare_exchange_n(slot, &site, made, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return made;
        free(made);
        if (is_site(site, wanted))
            return site;
    }
    return NULL;
}
