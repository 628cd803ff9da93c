/* bazel.c: supports what Bazel expects of a test, where no flag does.
 *
 * Bazel, like GoogleTest, expects a file that shows that shards are supported.
 * A test that exits with 0 passes, unless its TEST_PREMATURE_EXIT_FILE still
 * exists: then the test exited midway.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/session.h"
#include "plan.h"

static char *premature;

/* Creates the file that a variable names, and returns its path; NULL without
 * one. */
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
