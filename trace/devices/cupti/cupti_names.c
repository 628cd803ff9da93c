/* cupti_names.c: displayed names of calls, kernels and errors. */
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cupti.h"
#include "trace/base/containers.h"
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

enum { CALLS = 2048 };

static struct call_name {
    const char *raw; /* CUPTI's own, never freed */
    char *shown;
} call_names[2][CALLS];

static const char *ask(enum cupti_domain domain, uint32_t id)
{
    const char *raw = NULL;

    if (cupti.callback_name((int)domain, id, &raw) || !raw || !*raw)
        return "unknown call";
    return raw;
}

const char *cupti_call_name(enum cupti_domain domain, uint32_t id,
                            const char **raw)
{
    struct call_name *name = NULL;
    size_t size;

    if (id >= CALLS)
        return *raw = ask(domain, id);
    name = &call_names[domain == CUPTI_DOMAIN_RUNTIME][id];
    if (!name->raw)
        name->raw = ask(domain, id);
    size = strlen(name->raw) + 1;
    if (!name->shown && (name->shown = malloc(size)))
        cupti_strip(name->raw, name->shown, size);
    *raw = name->raw;
    return name->shown ? name->shown : name->raw;
}

/* ---- Kernels ---- */

struct kernel_name {
    char *shown; /* NULL: same as mangled */
    char mangled[];
};

/* The last kernels, by the address of their name. A module that is loaded later
 * may have another name there. */
enum { RECENT = 256 };
static struct recent {
    const char *at;
    const struct kernel_name *name;
} recent[RECENT];

static struct recent *recent_of(const char *mangled)
{
    return &recent[trace_mix(0, (uintptr_t)mangled) % RECENT];
}

enum { LONGEST = 8192 };
static struct trace_table kernel_names; /* by hash of the mangled name */

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

static struct kernel_name *add_kernel_name(const char *mangled, uint64_t key)
{
    size_t size = strlen(mangled);
    struct kernel_name *name = malloc(sizeof(*name) + size + 1);
    demangle *function = NULL;
    int status;

    if (!name || !trace_table_set(&kernel_names, key, (uintptr_t)name)) {
        free(name);
        return NULL;
    }
    memcpy(name->mangled, mangled, size + 1);
    if (!strncmp(mangled, "_Z", 2) && size <= LONGEST)
        function = find_demangler();
    name->shown = function ? function(mangled, NULL, NULL, &status) : NULL;
    return name;
}

static const struct kernel_name *find_kernel_name(const char *mangled)
{
    uint64_t key = trace_hash_string(TRACE_HASH, mangled);
    struct kernel_name *name = NULL;
    uintptr_t found;

    if (trace_table_find(&kernel_names, key, &found))
        name = (struct kernel_name *)found;
    if (!name || strcmp(name->mangled, mangled) != 0)
        name = add_kernel_name(mangled, key);
    return name;
}

struct cupti_kernel_name cupti_kernel_name(const char *mangled)
{
    struct recent *last = recent_of(mangled);

    if (last->at != mangled || strcmp(last->name->mangled, mangled) != 0) {
        const struct kernel_name *name = find_kernel_name(mangled);

        if (!name)
            return (struct cupti_kernel_name){mangled, mangled, false};
        *last = (struct recent){mangled, name};
    }
    return (struct cupti_kernel_name){last->name->shown ? last->name->shown
                                                        : last->name->mangled,
                                      last->name->mangled, true};
}

/* ---- Errors ---- */

/* A statically linked runtime cannot be asked. */
const char *cupti_error_name(enum cupti_domain domain, int result)
{
    const char *name = NULL;

    if (domain == CUPTI_DOMAIN_RUNTIME) {
        const char *(*function)(int) = (const char *(*)(int))(
            uintptr_t)cupti_symbol("libcudart.so", "cudaGetErrorName");

        return function ? function(result) : NULL;
    }

    int (*function)(int, const char **) = (int (*)(int, const char **))(
        uintptr_t)cupti_symbol("libcuda.so", "cuGetErrorName");

    return function && !function(result, &name) ? name : NULL;
}

/* ---- Memory ---- */

bool cupti_is_readable(const void *at)
{
    char byte;
    struct iovec here = {&byte, 1}, there = {(void *)(uintptr_t)at, 1};

    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == 1 ||
           errno != EFAULT;
}

/* The addresses that were checked, and whether they are readable. */
static struct trace_table checked;

const char *cupti_string(const struct cupti_record *record,
                         enum cupti_field field)
{
    uintptr_t text = (uintptr_t)cupti_get(record, field);
    uintptr_t readable = 0;

    if (text && recent_of((const char *)text)->at == (const char *)text)
        return (const char *)text;
    if (text && !trace_table_find(&checked, text, &readable)) {
        readable = cupti_is_readable((const void *)text);
        trace_table_set(&checked, text, readable);
    }
    return readable ? (const char *)text : "?";
}
