/* load_map.c: records which modules addresses belong to. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "load_map.h"
#include "trace/base/file.h"
#include "trace/base/lock.h"
#include "trace/base/strings.h"
#include "trace/base/valgrind_requests.h"
#include "trace/record/write.h"

enum { MODULES = 1024, BUILD_ID_SIZE = 64 };

const struct trace_loaded trace_load_map_none;

static TRACE_UNTRACKED struct trace_lock lock;
static TRACE_UNTRACKED uint32_t noted_in; /* the recording's generation */
static TRACE_UNTRACKED struct trace_loaded modules[MODULES];
static TRACE_UNTRACKED size_t module_count;

/* The module that was found. */
struct found {
    uintptr_t low, end, bias;
    char path[PATH_MAX];
    unsigned char build_id[BUILD_ID_SIZE];
    size_t build_id_size;
};

/* The alternate stack of a signal handler may be too small for it. */
static TRACE_UNTRACKED struct found found;

/* ---- What the dynamic linker knows ---- */

static uintptr_t start_of(const struct dl_phdr_info *info, int segment)
{
    return info->dlpi_addr + info->dlpi_phdr[segment].p_vaddr;
}

static void find_range(const struct dl_phdr_info *info)
{
    found.low = UINTPTR_MAX;
    found.end = 0;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        uintptr_t low = start_of(info, i);
        uintptr_t end = low + info->dlpi_phdr[i].p_memsz;

        if (info->dlpi_phdr[i].p_type != PT_LOAD)
            continue;
        found.low = low < found.low ? low : found.low;
        found.end = end > found.end ? end : found.end;
    }
}

static size_t padded(size_t size)
{
    return (size + 3) & ~(size_t)3;
}

/* Copies the build-id of a segment of notes, if it has one. */
static void read_notes(const char *at, size_t size)
{
    const ElfW(Nhdr) * note;

    while (size >= sizeof(*note)) {
        note = (const void *)at;

        size_t name = padded(note->n_namesz), data = padded(note->n_descsz);

        if (size - sizeof(*note) < name || size - sizeof(*note) - name < data)
            return;
        if (note->n_type == NT_GNU_BUILD_ID && note->n_namesz == 4 &&
            !memcmp(note + 1, "GNU", 4) && note->n_descsz <= BUILD_ID_SIZE) {
            memcpy(found.build_id, (const char *)(note + 1) + name,
                   note->n_descsz);
            found.build_id_size = note->n_descsz;
        }
        at += sizeof(*note) + name + data;
        size -= sizeof(*note) + name + data;
    }
}

/* The program itself has no name. */
static void find_path(const char *name, char path[PATH_MAX])
{
    if (!realpath(*name ? name : "/proc/self/exe", path))
        snprintf(path, PATH_MAX, "%s", name);
}

static int visit(struct dl_phdr_info *info, size_t size, void *context)
{
    const uintptr_t *address = context;

    (void)size;
    find_range(info);
    if (*address < found.low || *address >= found.end)
        return 0;
    found.bias = info->dlpi_addr;
    found.build_id_size = 0;
    for (int i = 0; i < info->dlpi_phnum; i++)
        if (info->dlpi_phdr[i].p_type == PT_NOTE)
            read_notes((const char *)start_of(info, i),
                       info->dlpi_phdr[i].p_memsz);
    find_path(info->dlpi_name, found.path);
    if (!found.build_id_size)
        found.build_id_size = trace_file_stamp(found.path, found.build_id);
    return 1;
}

/* ---- Modules that are recorded ---- */

static void put_module(struct trace_writer *writer)
{
    const struct trace_value values[] = {
        trace_text_(found.path),
        trace_bytes(found.build_id, found.build_id_size),
        trace_u64_(found.low),
        trace_u64_(found.end - found.low),
        trace_u64_(found.bias),
    };
    size_t count = sizeof(values) / sizeof(*values);
    struct trace_record *record =
        trace_put(writer, TRACE_KIND_MODULE, 0, count, values);

    if (!record)
        record =
            trace_put_spare(writer, TRACE_KIND_MODULE, NULL, 0, count, values);
    if (record)
        trace_commit(writer, record);
}

/* Returns what a filter has about the module; NULL: nothing. */
static const struct trace_filtered_module *find_filtered(
    const struct trace_function_filter *filter)
{
    uint64_t path = trace_hash_string(TRACE_HASH, found.path);

    for (uint32_t i = 0; i < filter->module_count; i++)
        if (filter->modules[i].path == path &&
            filter->modules[i].size == found.end - found.low)
            return &filter->modules[i];
    return NULL;
}

/* Finds which of its functions and lines are recorded. */
static void set_wanted(struct trace_loaded *module)
{
    static const unsigned char none;
    const struct trace_function_filter *filter = trace_recording.functions;
    const struct trace_filtered_module *at =
        filter ? find_filtered(filter) : NULL;

    module->wanted = module->lines = NULL;
    module->filter = filter;
    if (at && at->wanted) {
        module->wanted = (const unsigned char *)filter + at->wanted;
        module->shift = TRACE_WANTED_SHIFT;
    } else if (filter && !at && !filter->others) {
        module->wanted = &none;
        module->shift = sizeof(uintptr_t) * 8 - 1;
    }
    if (at && at->lines)
        module->lines = (const unsigned char *)filter + at->lines;
}

/* Returns the known module of an address, or NULL. */
static struct trace_loaded *find_known(uintptr_t address)
{
    for (size_t i = 0; i < module_count; i++)
        if (trace_is_loaded_at(&modules[i], address))
            return &modules[i];
    return NULL;
}

/* Returns a place for another module, or NULL. */
static struct trace_loaded *place_for_module(void)
{
    for (size_t i = 0; i < module_count; i++)
        if (!modules[i].size)
            return &modules[i];
    return module_count < MODULES ? &modules[module_count++] : NULL;
}

/* A new recording has no modules. It may lie where the last one did. */
static void forget_others(const struct trace_writer *writer)
{
    if (noted_in == writer->generation)
        return;
    noted_in = writer->generation;
    for (size_t i = 0; i < module_count; i++)
        __atomic_store_n(&modules[i].size, 0, __ATOMIC_RELAXED);
}

static const struct trace_loaded *add(struct trace_writer *writer,
                                      uintptr_t address)
{
    struct trace_loaded *module;

    if (!dl_iterate_phdr(visit, &address))
        return &trace_load_map_none;
    module = place_for_module();
    if (!module)
        return &trace_load_map_none;
    put_module(writer);
    module->low = found.low;
    set_wanted(module);
    __atomic_store_n(&module->size, found.end - found.low, __ATOMIC_RELEASE);
    return module;
}

/* ---- Modules that are unloaded ---- */

static int has_address(struct dl_phdr_info *info, size_t size, void *context)
{
    const uintptr_t *address = context;

    (void)size;
    find_range(info);
    return *address >= found.low && *address < found.end;
}

static void forget_unloaded(void)
{
    struct trace_hold hold;

    if (!__atomic_load_n(&module_count, __ATOMIC_RELAXED))
        return;
    trace_hold(&hold);
    trace_lock(&lock);
    for (size_t i = 0; i < module_count; i++)
        if (modules[i].size && !dl_iterate_phdr(has_address, &modules[i].low))
            __atomic_store_n(&modules[i].size, 0, __ATOMIC_RELAXED);
    trace_unlock(&lock);
    trace_release(&hold);
}

/* Other objects may take the addresses of one that is unloaded. */
TRACE_API int dlclose(void *handle)
{
    static int (*next)(void *); /* atomic */
    int (*close)(void *) = __atomic_load_n(&next, __ATOMIC_RELAXED);
    int result;

    if (!close) {
        *(void **)&close = dlsym(RTLD_NEXT, "dlclose");
        __atomic_store_n(&next, close, __ATOMIC_RELAXED);
    }
    result = close(handle);
    if (!result)
        forget_unloaded();
    return result;
}

/* ---- Modules of addresses ---- */

void trace_load_map_renew(struct trace_writer *writer)
{
    uintptr_t busy = trace_ours_begin(writer);

    trace_lock(&lock);
    forget_others(writer);
    for (size_t i = 0; i < module_count; i++)
        if (!find_known(modules[i].low))
            add(writer, modules[i].low);
    trace_unlock(&lock);
    trace_ours_end(writer, busy);
}

const struct trace_loaded *trace_load_map_find(struct trace_writer *writer,
                                               uintptr_t address)
{
    const struct trace_loaded *module;
    struct trace_hold hold;
    uintptr_t busy;

    trace_hold(&hold);
    busy = trace_ours_begin(writer);
    trace_lock(&lock);
    forget_others(writer);
    module = find_known(address);
    if (!module)
        module = add(writer, address);
    trace_unlock(&lock);
    trace_ours_end(writer, busy);
    trace_release(&hold);
    return module;
}
