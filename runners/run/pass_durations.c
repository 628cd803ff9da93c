/* pass_durations.c: passes the durations of earlier runs to the programs of a
 * run, so that each can balance its shards against those of the others.
 *
 * All programs of all shards must get the same durations. They read a file in
 * memory, which needs no folder, and which no other run changes.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "run.h"

static char path[64]; /* "": there is none */

struct selection {
    const struct programs *programs;
    const struct test_log_options *options;
};

/* Whether a test will probably run. */
static bool is_selected(const struct test_log_duration *test,
                        const void *context)
{
    const struct selection *selection = context;

    for (size_t i = 0; i < selection->programs->count; i++)
        if (!strcmp(selection->programs->all[i].name, test->program))
            return test_log_plan_selects(selection->options, test->name, NULL);
    return false;
}

static int write_all(const struct test_log_durations *durations)
{
    int fd = memfd_create("durations", MFD_CLOEXEC), copy = dup(fd);
    FILE *out = copy < 0 ? NULL : fdopen(copy, "w");

    if (!out)
        return -1;
    test_log_durations_put(durations, out);
    if (fclose(out))
        return -1;
    snprintf(path, sizeof(path), "/proc/%ld/fd/%d", (long)getpid(), fd);
    return 0;
}

int runners_durations_begin(const struct programs *programs,
                            struct test_log_options *options,
                            const struct test_log_history *last)
{
    const struct selection selection = {programs, options};

    test_log_shard_recall(options, last, is_selected, &selection);
    if (!test_log_shard_by_time(&options->shard) ||
        !write_all(&options->durations))
        return 0;
    test_log_notice("cannot keep durations in memory: %s; write "
                    "--shard-by=hash",
                    strerror(errno));
    return -1;
}

const char *runners_durations(void)
{
    return path[0] ? path : NULL;
}
