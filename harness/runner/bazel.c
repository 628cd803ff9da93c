/* bazel.c: what Bazel asks of a test, where no flag is about it.
 *
 * It wants to see that shards are known of; so does GoogleTest. And it takes a
 * test that ends with 0 for passed, unless it left its TEST_PREMATURE_EXIT_FILE
 * behind: something exited in the midst of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/results/notice.h"
#include "harness/runner/runner.h"
#include "harness/session.h"

static char *premature;

/* Makes the file that a variable names, and returns its path; NULL if there is
 * none. */
static const char *make(const char *variable, const char *path)
{
    int fd;

    if (!path)
        return NULL;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        test_log_notice("cannot write %s (%s): %s", path, variable,
                        strerror(errno));
        return NULL;
    }
    close(fd);
    return path;
}

void test_log_bazel_begin(const struct test_log_session *session)
{
    const char *path;

    if (test_log_variable("TESTLOG_RUN") || session->part || session->nested)
        return;
    make("TEST_SHARD_STATUS_FILE", test_log_variable("TEST_SHARD_STATUS_FILE"));
    make("GTEST_SHARD_STATUS_FILE",
         test_log_variable("GTEST_SHARD_STATUS_FILE"));
    path = make("TEST_PREMATURE_EXIT_FILE",
                test_log_variable("TEST_PREMATURE_EXIT_FILE"));
    premature = path ? strdup(path) : NULL;
}

void test_log_bazel_end(void)
{
    if (premature && unlink(premature) && errno != ENOENT)
        test_log_notice("cannot remove %s (TEST_PREMATURE_EXIT_FILE): %s",
                        premature, strerror(errno));
    free(premature);
    premature = NULL;
}
