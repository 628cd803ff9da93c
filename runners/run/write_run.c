/* write_run.c: writes the files of a run of several programs. */
#include <errno.h>
#include <string.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "run.h"

void runners_write(const struct test_log_run *run)
{
    if (test_log_write_run_json(run, "run.json") ||
        test_log_write_results(run, "results.tsv") ||
        test_log_write_summary(run, "summary.tsv") ||
        test_log_write_junit(run, "junit.xml") ||
        test_log_write_trace(run, "trace.json"))
        test_log_notice("cannot write to %s: %s; its results are only printed",
                        run->path, strerror(errno));
}
