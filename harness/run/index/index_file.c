/* index_file.c: puts index.html into a folder of runs. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/list_runs.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/index/index.h"
#include "trace/base/file.h"
#include "trace/base/strings.h"

static const char file_name[] = "index.html";

static int put_file(int dir)
{
    struct test_log_index index;
    struct trace_file file;
    int status = test_log_index_read(&index, dir, TEST_LOG_INDEX_RUNS,
                                     TEST_LOG_INDEX_SHOWN);

    if (!status)
        status = trace_file_beneath(&file, dir, file_name);
    if (!status) {
        test_log_index_put(&index, file.stream);
        status = trace_file_commit(&file);
    }
    test_log_index_free(&index);
    return status;
}

/* Of two runs that end together, the second one to read writes last. */
static int write_in(const char *path)
{
    int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC, 0), status;
    int error;

    if (dir < 0)
        return -1;
    test_log_lock(dir);
    status = put_file(dir);
    error = errno;
    close(dir);
    errno = error;
    return status;
}

void test_log_index_write(const struct test_log_run *run)
{
    char path[PATH_MAX], *name;

    if (!run->path || test_log_is_part(run) ||
        !test_log_is_run_name(trace_base_name(run->path)) ||
        !realpath(run->path, path))
        return;
    name = (char *)trace_base_name(path);
    *name = '\0';
    if (write_in(path))
        test_log_notice("cannot write %s%s: %s; results are not affected", path,
                        file_name, strerror(errno));
}

void test_log_index_renew(const char *path)
{
    char file[PATH_MAX];

    if (snprintf(file, sizeof(file), "%s/%s", path, file_name) < PATH_MAX &&
        !access(file, F_OK))
        write_in(path);
}
