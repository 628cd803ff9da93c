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

struct following {
    const struct test_log_page *page;
    const struct test_log_attempt *attempt;
    struct trace_reader *reader;
    struct test_log_growing *growing;
    bool ended;
    uint64_t put; /* ns: when the last block was written */
};

static void put_members(struct trace_text *out,
                        const struct following *following)
{
    const struct trace_summary summary =
        trace_reader_summary(following->reader);

    test_log_attempt_members(out, following->page, following->attempt,
                             following->reader);
    trace_text_printf(
        out, "\"over\":%s,\"now\":%llu,", following->ended ? "true" : "false",
        (unsigned long long)trace_between(summary.origin.monotonic,
                                          trace_clock_ns(CLOCK_MONOTONIC)));
}

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

static int write_block(struct following *following, FILE *out)
{
    struct trace_text members = {0}, block = {0};
    int status;

    put_members(&members, following);
    test_log_growing_put(&block, members.data ? members.data : "",
                         following->growing);
    block.failed |= members.failed;
    status = write_packed(&block, out);
    trace_text_free(&members);
    trace_text_free(&block);
    following->put = trace_clock_ns(CLOCK_MONOTONIC);
    return status;
}

/* Writes blocks until the recording has ended or nobody reads them. */
static int follow(struct following *following, FILE *out)
{
    uint64_t pause = 0, began;
    int found = 0, status = 0;

    while (!status && !following->ended) {
        bool some;

        began = trace_clock_ns(CLOCK_MONOTONIC);
        found = runners_follow_look(following->reader, &following->ended);
        if (found < 0)
            return -1;
        some = test_log_growing_add(following->growing) || !following->put;
        if (following->ended ||
            (some && trace_between(following->put, began) >= put_every))
            status = write_block(following, out);
        if (!following->ended)
            pause = runners_follow_pause(pause, began, some);
    }
    return status;
}

int view_follow(const struct test_log_page *page,
                const struct test_log_attempt *attempt, FILE *out)
{
    struct following following = {.page = page, .attempt = attempt};
    int run = open(page->run->path, O_PATH | O_DIRECTORY | O_CLOEXEC);
    char name[PATH_MAX];
    int status = -1;

    if (run >= 0 && snprintf(name, sizeof(name), "%s/recording",
                             attempt->folder) < PATH_MAX)
        following.reader = trace_reader_follow_beneath(run, name);
    if (run >= 0)
        close(run);
    if (!following.reader) {
        errno = ENOENT;
        return -1;
    }
    following.growing = test_log_growing_new(
        following.reader, trace_reader_meta(following.reader, "log"));
    if (following.growing)
        status = follow(&following, out);
    test_log_growing_free(following.growing);
    trace_reader_close(following.reader);
    return status;
}
