/* library.c: finds libcupti. */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>

#include "cupti.h"
#include "trace/base/strings.h"

/* ---- Loaded objects ---- */

struct look {
    const char *begin;
    char path[PATH_MAX];
};

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    struct look *for_ = context;
    const char *name = trace_base_name(object->dlpi_name);

    (void)size;
    if (strncmp(name, for_->begin, strlen(for_->begin)) != 0)
        return 0;
    snprintf(for_->path, sizeof(for_->path), "%s", object->dlpi_name);
    return 1;
}

bool cupti_loaded(const char *begin, char path[PATH_MAX])
{
    struct look found = {.begin = begin};

    if (!dl_iterate_phdr(look, &found))
        return false;
    memcpy(path, found.path, sizeof(found.path));
    return true;
}

void *cupti_symbol(const char *begin, const char *name)
{
    char path[PATH_MAX];
    void *handle = cupti_loaded(begin, path)
                       ? dlopen(path, RTLD_LAZY | RTLD_NOLOAD)
                       : NULL;
    void *symbol = handle ? dlsym(handle, name) : NULL;

    if (handle)
        dlclose(handle); /* it stays: it was loaded before */
    return symbol;
}

/* ---- Search ---- */

#if defined(__aarch64__)
#    define TARGET "sbsa-linux"
#else
#    define TARGET "x86_64-linux"
#endif

static const char *const sonames[] = {"libcupti.so.13", "libcupti.so.12",
                                      "libcupti.so.11.8", "libcupti.so"};

struct search {
    bool (*try)(void *);
    unsigned tried;
    bool taken;
};

/* A refused library stays mapped: CUPTI 11.8 and 12 may have started a thread
 * that never ends. */
static bool offer(struct search *search, const char *path, int flags)
{
    void *handle =
        search->taken
            ? NULL
            : dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE | flags);

    if (!handle)
        return search->taken;
    search->tried++;
    search->taken = search->try(handle);
    if (!search->taken)
        dlclose(handle);
    return search->taken;
}

/* Tries each name in a folder. */
static void offer_in(struct search *search, const char *folder,
                     const char *below)
{
    char path[PATH_MAX];
    size_t count = sizeof(sonames) / sizeof(*sonames);

    for (size_t i = 0; i < count && !search->taken; i++) {
        snprintf(path, sizeof(path), "%s%s/%s", folder, below, sonames[i]);
        offer(search, path, 0);
    }
}

/* Python's wheels put each library into a folder of its own; since CUDA 13 all
 * are in one folder: beside the loaded library, or two folders up. */
static void offer_beside(struct search *search, const char *object)
{
    char folder[PATH_MAX];
    char *end;

    if (!cupti_loaded(object, folder) || !(end = strrchr(folder, '/')))
        return;
    *end = '\0';
    offer_in(search, folder, "");
    offer_in(search, folder, "/../extras/CUPTI/lib64");
    offer_in(search, folder, "/../../cuda_cupti/lib");
    offer_in(search, folder, "/../../cu13/lib");
}

static void offer_toolkit(struct search *search, const char *root)
{
    static const char *const below[] = {"/lib64", "/extras/CUPTI/lib64", "/lib",
                                        "/targets/" TARGET "/lib"};

    if (root && *root)
        for (size_t i = 0; i < sizeof(below) / sizeof(*below); i++)
            offer_in(search, root, below[i]);
}

unsigned cupti_search(bool (*try)(void *))
{
    const char *given = getenv("TRACE_CUPTI");
    struct search search = {.try = try};
    size_t count = sizeof(sonames) / sizeof(*sonames);
    char path[PATH_MAX];

    if (given && *given) {
        offer(&search, given, 0);
        return search.tried;
    }
    for (size_t i = 0; i < count; i++)
        offer(&search, sonames[i], RTLD_NOLOAD);
    if (cupti_loaded("libcupti", path)) /* a bundled library's own name */
        offer(&search, path, RTLD_NOLOAD);
    offer_beside(&search, "libcudart");
    offer_toolkit(&search, getenv("CUDA_HOME"));
    offer_toolkit(&search, getenv("CUDA_PATH"));
    offer_toolkit(&search, "/usr/local/cuda");
    for (size_t i = 0; i < count; i++)
        offer(&search, sonames[i], 0);
    offer_beside(&search, "libnvrtc");
    offer_beside(&search, "libcublas");
    return search.tried;
}
