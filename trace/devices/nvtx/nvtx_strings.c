/* nvtx_strings.c: the domains, strings and categories of NVTX. */
#include <stdlib.h>
#include <string.h>

#include "trace/base/strings.h"
#include "trace/devices/nvtx/nvtx_receiver.h"

/* ---- Sets of texts ---- */

enum { PROBES = 64 };

/* Returns the number of a text from 1 on; 0 if there is no room for it. */
static size_t find(char **slots, size_t size, const char *text)
{
    uint64_t first = trace_hash_string(TRACE_HASH, text);

    for (size_t i = 0; i < PROBES; i++) {
        size_t at = (first + i) % size;
        char *old = __atomic_load_n(&slots[at], __ATOMIC_ACQUIRE);
        char *made = old ? NULL : strdup(text);

        if (!old && !made)
            return 0;
        if (made &&
            __atomic_compare_exchange_n(&slots[at], &old, made, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
            return at + 1;
        free(made);
        if (!strcmp(old, text))
            return at + 1;
    }
    return 0;
}

/* Returns NULL for a number that find did not return. */
static const char *text_of(char **slots, size_t size, uintptr_t number)
{
    return number - 1 < size
               ? __atomic_load_n(&slots[number - 1], __ATOMIC_ACQUIRE)
               : NULL;
}

static nvtx_handle handle_of(size_t number)
{
    return (nvtx_handle)(uintptr_t)number;
}

/* ---- Domains ---- */

static char *targets[NVTX_DOMAINS - 1]; /* atomic; number 0 is the default */

/* Adds a name so that a filter can select it as a target. */
static void add_name(struct trace_text *target, const char *name)
{
    for (; *name; name++)
        trace_text_char(target, (unsigned char)*name <= ' ' || *name == 0x7f ||
                                        strchr(",=[]{}\"", *name)
                                    ? '_'
                                    : *name);
}

nvtx_handle nvtx_domain(const char *name)
{
    struct trace_text target = {.ceiling = 256};
    size_t number = 0;

    if (!name || !*name)
        return NULL;
    trace_text_string(&target, "nvtx::");
    add_name(&target, name);
    if (target.data)
        number = find(targets, NVTX_DOMAINS - 1, target.data);
    trace_text_free(&target);
    return handle_of(number);
}

uint32_t nvtx_domain_number(nvtx_handle handle)
{
    uintptr_t number = (uintptr_t)handle;

    return text_of(targets, NVTX_DOMAINS - 1, number) ? (uint32_t)number : 0;
}

const char *nvtx_domain_target(uint32_t number)
{
    const char *target = text_of(targets, NVTX_DOMAINS - 1, number);

    return target ? target : "nvtx";
}

/* ---- Strings ---- */

static char *strings[NVTX_STRINGS]; /* atomic */

nvtx_handle nvtx_string(const char *text)
{
    return text ? handle_of(find(strings, NVTX_STRINGS, text)) : NULL;
}

const char *nvtx_string_text(nvtx_handle handle)
{
    return text_of(strings, NVTX_STRINGS, (uintptr_t)handle);
}

/* ---- Categories ---- */

/* The last name counts; earlier ones stay, for threads that read them. */
static struct category {
    uint64_t key;     /* atomic; 0: free */
    const char *name; /* atomic */
} categories[NVTX_CATEGORIES];

static struct category *find_category(uint32_t domain, uint32_t category,
                                      bool add)
{
    uint64_t key = ((uint64_t)domain + 1) << 32 | category;
    uint64_t first = trace_hash(TRACE_HASH, &key, sizeof(key));

    for (size_t i = 0; i < PROBES; i++) {
        struct category *one = &categories[(first + i) % NVTX_CATEGORIES];
        uint64_t taken = __atomic_load_n(&one->key, __ATOMIC_ACQUIRE);

        if (!taken && add)
            __atomic_compare_exchange_n(&one->key, &taken, key, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        if (taken == key || (!taken && add))
            return one;
        if (!taken)
            return NULL;
    }
    return NULL;
}

void nvtx_name_category(uint32_t domain, uint32_t category, const char *name)
{
    const char *kept = name ? nvtx_string_text(nvtx_string(name)) : NULL;
    struct category *one = kept ? find_category(domain, category, true) : NULL;

    if (one)
        __atomic_store_n(&one->name, kept, __ATOMIC_RELEASE);
}

const char *nvtx_category_name(uint32_t domain, uint32_t category)
{
    const struct category *one = find_category(domain, category, false);

    return one ? __atomic_load_n(&one->name, __ATOMIC_ACQUIRE) : NULL;
}

/* ---- Wide texts ---- */

static void add_character(struct trace_text *text, uint32_t c)
{
    if (c > 0x10ffff || (c >= 0xd800 && c < 0xe000))
        c = 0xfffd; /* the replacement character */
    if (c < 0x80) {
        trace_text_char(text, (char)c);
        return;
    }
    if (c < 0x800) {
        trace_text_char(text, (char)(0xc0 | c >> 6));
    } else {
        if (c < 0x10000) {
            trace_text_char(text, (char)(0xe0 | c >> 12));
        } else {
            trace_text_char(text, (char)(0xf0 | c >> 18));
            trace_text_char(text, (char)(0x80 | (c >> 12 & 0x3f)));
        }
        trace_text_char(text, (char)(0x80 | (c >> 6 & 0x3f)));
    }
    trace_text_char(text, (char)(0x80 | (c & 0x3f)));
}

/* Not wcstombs: the locale may be another one. */
char *nvtx_narrow(const wchar_t *wide)
{
    struct trace_text text = {0};

    if (!wide)
        return NULL;
    for (; *wide; wide++)
        add_character(&text, (uint32_t)*wide);
    return text.data ? text.data : strdup("");
}
