/* view_follow.c: writes what a test records while it runs, as blocks that
 * format.md describes. It runs in a child of the server.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <unistd.h>

#include "harness/run/page/attempts.h"
#include "harness/run/page/blocks.h"
#include "harness/run/page/growing.h"
#include "runners/runs/find.h"
#include "trace/base/clock.h"
#include "view.h"

static const uint64_t put_every = 50000000; /* ns */

/* Each block is preceded by its size: four bytes, little endian. */
static int write_packed(const struct trace_text *block, FILE *out)
{
    struct test_log_packed packed;
    int status = test_log_pack(&packed, block);

    for (int i = 0; !status && i < 4; i++)
        putc((int)(packed.size >> 8 * i & 0xff), out);
    if (!status)
        fwrite(packed.bytes, 1, packed.size, out);
    free(packed.bytes);
    return status || fflush(out) ? -1 : 0;
}

static int write_block(const struct test_log_page *page,
                       const struct test_log_attempt *attempt,
                       struct trace_reader *reader,
                       struct test_log_growing *growing, bool ended, FILE *out)
{
    struct trace_text members = {0}, block = {0};
    uint64_t origin = trace_reader_summary(reader).origin.monotonic;
    uint64_t now = trace_between(origin, trace_clock_ns(CLOCK_MONOTONIC));
    int status;

    test_log_attempt_members(&members, page, attempt, reader);
    trace_text_printf(&members, "\"over\":%s,\"now\":%llu,",
                      ended ? "true" : "false", (unsigned long long)now);
    test_log_growing_put(&block, members.data ? members.data : "", growing);
    block.failed |= members.failed;
    status = write_packed(&block, out);
    trace_text_free(&members);
    trace_text_free(&block);
    return status;
}

/* Writes blocks until the recording has ended or nobody reads them. */
int view_follow(const struct test_log_page *page,
                const struct test_log_attempt *attempt, FILE *out)
{
    int run = open(page->run->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    struct trace_reader *reader = NULL;
    struct test_log_growing *growing;
    uint64_t pause = 0, began, put = 0; /* when the last block was written */
    char name[PATH_MAX];
    bool ended = false, some;
    int status;

    if (run >= 0 && snprintf(name, sizeof(name), "%s/recording",
                             attempt->folder) < PATH_MAX)
        reader = trace_reader_follow_beneath(run, name);
    if (run >= 0)
        close(run);
    if (!reader) {
        errno = ENOENT;
        return -1;
    }
    growing = test_log_growing_new(reader, trace_reader_meta(reader, "log"));
    status = growing ? 0 : -1;
    while (!status && !ended) {
        began = trace_clock_ns(CLOCK_MONOTONIC);
        if (runners_follow_look(reader, &ended) < 0) {
            status = -1;
            break;
        }
        some = test_log_growing_add(growing) || !put;
        if (ended || (some && trace_between(put, began) >= put_every)) {
            status = write_block(page, attempt, reader, growing, ended, out);
            put = trace_clock_ns(CLOCK_MONOTONIC);
        }
        if (!ended)
            pause = runners_follow_pause(pause, began, some);
    }
    test_log_growing_free(growing);
    trace_reader_close(reader);
    return status;
}
