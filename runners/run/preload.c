/* preload.c: testlog run --preload: loads testlog into programs that are linked
 * with Criterion only. Criterion's main is in its shared library, so ours
 * replaces it.
 */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/options/gpu_setup.h"
#include "run.h"
#include "runners/programs/linked_file.h"

/* The runtimes of these must be loaded before any other library. */
static const char *find_sanitizer(const struct linked_file *linked)
{
    static const char *const prefixes[] = {"libasan.so", "liblsan.so",
                                           "libtsan.so", "libhwasan.so"};
    const char *found = NULL;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && !found; i++)
        found = runners_linked_library(linked, prefixes[i]);
    return found;
}

/* A file that cannot be parsed may be a script that starts the program. */
static int choose(struct program *program, const char *library)
{
    struct linked_file linked;
    const char *first = NULL;
    bool readable = runners_linked_open(&linked, program->path), has = false;

    if (readable) {
        first = find_sanitizer(&linked);
        has = runners_linked_has_testlog(&linked);
    }
    if (!has && asprintf(&program->preload, "%s%s%s", first ? first : "",
                         first ? ":" : "", library) < 0)
        program->preload = NULL;
    if (readable)
        test_log_elf_close(&linked.file);
    return has || program->preload ? 0 : -1;
}

int runners_preload_begin(struct programs *programs)
{
    char library[PATH_MAX];

    if (programs->launcher_count) {
        test_log_notice("--preload and --launch exclude each other; link the "
                        "programs with -ltestlog");
        return -1;
    }
    if (!test_log_own_library(library)) {
        test_log_notice("--preload: no libtestlog.so beside testlog that only "
                        "you or root can replace; run make install");
        return -1;
    }
    if (strpbrk(library, ": ")) {
        test_log_notice("--preload: LD_PRELOAD ends a path at a blank or "
                        "colon, as in %s; install testlog elsewhere",
                        library);
        return -1;
    }
    for (size_t i = 0; i < programs->count; i++)
        if (choose(&programs->all[i], library)) {
            test_log_notice("out of memory");
            return -1;
        }
    return 0;
}

/* ---- Programs without effect ---- */

static const char *silent; /* the path of the first one */
static size_t silent_count;

void runners_preload_note(const struct program *program)
{
    if (!program->preload || runners_interrupted())
        return;
    if (!silent_count++)
        silent = program->path;
}

void runners_preload_explain(void)
{
    if (silent_count == 1)
        test_log_notice("--preload: %s sent no results, so only its exit "
                        "status counts: it does not use Criterion's main, or "
                        "is linked statically; link it with -ltestlog",
                        silent);
    else if (silent_count)
        test_log_notice("--preload: %s and %zu more sent no results, so only "
                        "their exit status counts: they do not use "
                        "Criterion's main, or are linked statically; link "
                        "them with -ltestlog",
                        silent, silent_count - 1);
}
