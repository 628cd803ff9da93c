/* cupti_names.c: displayed names of calls and kernels. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "decoder.h"
#include "trace/base/strings.h"

/* ---- Calls ---- */

/* The length without version and default-stream suffixes. */
static size_t stem(const char *text, size_t size)
{
    size_t number = size; /* where the digits at the end begin */

    while (number && text[number - 1] >= '0' && text[number - 1] <= '9')
        number--;
    if (number < size && number > 2 && !memcmp(text + number - 2, "_v", 2))
        return number - 2;
    if (size > 5 && (!memcmp(text + size - 5, "_ptsz", 5) ||
                     !memcmp(text + size - 5, "_ptds", 5)))
        return size - 5;
    return size;
}

void cupti_strip(const char *raw, char *shown, size_t size)
{
    const char *from = strncmp(raw, "__", 2) ? raw : raw + 2;
    size_t length = strlen(from), before;

    do {
        before = length;
        length = stem(from, length);
    } while (length < before);
    snprintf(shown, size, "%.*s", (int)length, from);
}

static const char *ask(const struct cupti_decoder *decoder,
                       enum cupti_domain domain, uint32_t id)
{
    const char *raw = decoder->source->call(decoder->context, domain, id);

    return raw && *raw ? raw : "unknown call";
}

const char *cupti_call_name(struct cupti_decoder *decoder,
                            enum cupti_domain domain, uint32_t id,
                            const char **raw)
{
    struct cupti_call_name *name;
    size_t size;

    if (id >= CUPTI_CALLS)
        return *raw = ask(decoder, domain, id);
    name = &decoder->names.calls[domain == CUPTI_DOMAIN_RUNTIME][id];
    if (!name->raw)
        name->raw = ask(decoder, domain, id);
    size = strlen(name->raw) + 1;
    if (!name->shown && (name->shown = malloc(size)))
        cupti_strip(name->raw, name->shown, size);
    *raw = name->raw;
    return name->shown ? name->shown : name->raw;
}

/* ---- Kernels ---- */

struct cupti_known_kernel {
    char *shown; /* NULL: same as mangled */
    char mangled[];
};

static struct cupti_recent *recent_of(struct cupti_names *names,
                                      const char *mangled)
{
    return &names->recent[trace_mix(0, (uintptr_t)mangled) % CUPTI_RECENT];
}

enum { LONGEST = 8192 };

typedef char *demangle(const char *, char *, size_t *, int *);

/* C programs don't link libstdc++, but it is often installed. */
static demangle *find_demangler(void)
{
    static const char symbol[] = "__cxa_demangle";
    static demangle *found;
    static bool looked;
    void *handle;

    if (looked)
        return found;
    looked = true;
    found = (demangle *)(uintptr_t)dlsym(RTLD_DEFAULT, symbol);
    if (!found && (handle = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL)))
        found = (demangle *)(uintptr_t)dlsym(handle, symbol);
    return found;
}

static struct cupti_known_kernel *add_kernel(struct cupti_names *names,
                                             const char *mangled, uint64_t key)
{
    size_t size = strlen(mangled);
    struct cupti_known_kernel *name = malloc(sizeof(*name) + size + 1);
    demangle *function = NULL;
    int status;

    if (!name || !trace_table_set(&names->kernels, key, (uintptr_t)name)) {
        free(name);
        return NULL;
    }
    memcpy(name->mangled, mangled, size + 1);
    if (!strncmp(mangled, "_Z", 2) && size <= LONGEST)
        function = find_demangler();
    name->shown = function ? function(mangled, NULL, NULL, &status) : NULL;
    return name;
}

static const struct cupti_known_kernel *find_kernel(struct cupti_names *names,
                                                    const char *mangled)
{
    uint64_t key = trace_hash_string(TRACE_HASH, mangled);
    struct cupti_known_kernel *name = NULL;
    uintptr_t found;

    if (trace_table_find(&names->kernels, key, &found))
        name = (struct cupti_known_kernel *)found;
    if (!name || strcmp(name->mangled, mangled) != 0)
        name = add_kernel(names, mangled, key);
    return name;
}

struct cupti_kernel_name cupti_kernel_name(struct cupti_names *names,
                                           const char *mangled)
{
    struct cupti_recent *last = recent_of(names, mangled);

    if (last->at != mangled || strcmp(last->name->mangled, mangled) != 0) {
        const struct cupti_known_kernel *name = find_kernel(names, mangled);

        if (!name)
            return (struct cupti_kernel_name){mangled, mangled, false};
        *last = (struct cupti_recent){mangled, name};
    }
    return (struct cupti_kernel_name){last->name->shown ? last->name->shown
                                                        : last->name->mangled,
                                      last->name->mangled, true};
}

/* ---- Texts ---- */

const char *cupti_string(const struct cupti_decoder *decoder,
                         const struct cupti_record *record,
                         enum cupti_field field)
{
    uint64_t address = cupti_get(record, field);
    const char *text =
        address ? decoder->source->text(decoder->context, address) : NULL;

    return text ? text : "?";
}

/* ---- The end ---- */

void cupti_names_free(struct cupti_names *names)
{
    size_t cursor = 0;
    uintptr_t kernel;

    for (size_t i = 0; i < CUPTI_CALLS; i++) {
        free(names->calls[0][i].shown);
        free(names->calls[1][i].shown);
    }
    while (trace_table_next(&names->kernels, &cursor, &kernel)) {
        free(((struct cupti_known_kernel *)kernel)->shown);
        free((struct cupti_known_kernel *)kernel);
    }
    trace_table_free(&names->kernels);
    while (names->fields) {
        struct cupti_field_names *next = names->fields->next;

        free(names->fields);
        names->fields = next;
    }
}
