/* bazel.c: what Bazel asks of a test, where no flag is about it.
 *
 * Bazel takes a test that ends with 0 for passed, unless it left its
 * TEST_PREMATURE_EXIT_FILE behind: something exited in the midst of it.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness.h"

static char *premature;

void test_log_bazel_begin(void)
{
    const char *path = test_log_variable("TEST_PREMATURE_EXIT_FILE");
    int fd;

    if (!path || test_log_outputs_part() || getenv("TESTLOG_WORKER"))
        return;
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0) {
        test_log_notice("cannot write %s (TEST_PREMATURE_EXIT_FILE): %s", path,
                        strerror(errno));
        return;
    }
    close(fd);
    premature = strdup(path);
}

void test_log_bazel_end(void)
{
    if (premature && unlink(premature) && errno != ENOENT)
        test_log_notice("cannot remove %s (TEST_PREMATURE_EXIT_FILE): %s",
                        premature, strerror(errno));
    free(premature);
    premature = NULL;
}
