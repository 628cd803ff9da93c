/* run_order.c: numbers runs as they start, because clocks may step back.
 *
 * The folder of the runs has a counter, and each run has its number. If the
 * counter is lost, a new one continues after the highest number of a run.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/folder/run_order.h"
#include "trace/base/file.h"

#define COUNTER ".order"

/* The highest number that the files can have. */
static const uint64_t highest = 999999999999999999;

static uint64_t number_of(int dir, const char *name)
{
    int folder =
        openat(dir, name, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    uint64_t number = folder < 0 ? 0 : test_log_run_order_of(folder);

    if (folder >= 0)
        close(folder);
    return number;
}

static uint64_t highest_in(int dir)
{
    size_t count;
    char **names = test_log_list_runs(dir, false, &count);
    uint64_t number = count ? number_of(dir, names[0]) : 0;

    test_log_free_names(names, count);
    return number;
}

/* The counter may be older than the runs: it was copied, or a run could not
 * write to it. */
static uint64_t number_of_latest(int dir)
{
    char name[NAME_MAX + 1] = "";

    if (readlinkat(dir, "latest", name, sizeof(name) - 1) <= 0 ||
        strchr(name, '/'))
        return 0;
    return number_of(dir, name);
}

static uint64_t next(int dir, int counter)
{
    uint64_t number = counter < 0 ? 0 : test_log_order_read(counter);
    uint64_t latest = number_of_latest(dir);

    if (!number)
        number = highest_in(dir);
    if (number < latest)
        number = latest;
    return number < highest ? number + 1 : highest;
}

static uint64_t take(int dir)
{
    int counter = trace_beneath(dir, COUNTER, O_RDWR | O_CREAT);
    uint64_t number;

    if (counter >= 0)
        test_log_lock(counter);
    number = next(dir, counter);
    if (counter >= 0) {
        /* On failure, the next run looks at the numbers of runs. */
        test_log_order_write(counter, number);
        close(counter);
    }
    return number;
}

void test_log_run_order_take(const struct test_log_run *run, int dir)
{
    uint64_t number = take(dir);
    int fd =
        trace_beneath(run->folder, TEST_LOG_ORDER, O_WRONLY | O_CREAT | O_EXCL);

    if (fd < 0 || test_log_order_write(fd, number))
        test_log_notice("cannot write %s/" TEST_LOG_ORDER ": %s; testlog list "
                        "and --keep count this run among the oldest",
                        run->path, strerror(errno));
    if (fd >= 0)
        close(fd);
}
