/* summary_tsv.c: writes summary.tsv: what index.html shows of a run, a name and
 * a value on each line. */
#include <inttypes.h>
#include <stdlib.h>
#include <sys/utsname.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/file.h"

static void put(FILE *out, const char *name, const char *value)
{
    struct trace_text line = {0};

    test_log_sanitize_line(&line, value);
    if (line.size)
        fprintf(out, "%s\t%s\n", name, line.data);
    trace_text_free(&line);
}

/* The hosts of a merged run may differ. */
static void put_host(FILE *out, const struct test_log_run *run)
{
    char several[32];
    struct utsname host;

    snprintf(several, sizeof(several), "%zu hosts", run->host_count);
    if (run->host_count > 1)
        put(out, "host", several);
    else if (run->source_count)
        put(out, "host", run->sources[0].host ? run->sources[0].host : "");
    else if (!uname(&host))
        put(out, "host", host.nodename);
}

static void put_flaky(FILE *out, const struct test_log_result *result)
{
    struct trace_text program = {0}, name = {0};

    test_log_sanitize_line(&program, result->program);
    test_log_sanitize_line(&name, test_log_name(result));
    if (program.size && name.size)
        fprintf(out, "flaky\t%s\t%s\n", program.data, name.data);
    trace_text_free(&program);
    trace_text_free(&name);
}

int test_log_write_summary(const struct test_log_run *run, const char *name)
{
    const struct test_log_sums sums = test_log_run_sums(run);
    struct trace_text start = {0};
    struct trace_file file;

    if (test_log_create(run, name, &file))
        return -1;
    trace_text_moment(&start, run->start.wall);
    put(file.stream, "start", start.data ? start.data : "");
    trace_text_free(&start);
    fprintf(file.stream, "duration_ns\t%" PRIu64 "\nend\t%s\n",
            test_log_run_time(run),
            test_log_end_word(run->interrupted ? TEST_LOG_END_INTERRUPTED
                                               : TEST_LOG_END_FINISHED));
#define TEST_LOG_X(name) fprintf(file.stream, #name "\t%zu\n", sums.name);
    TEST_LOG_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    put_host(file.stream, run);
    if (run->commit)
        put(file.stream, "commit", run->commit);
    if (run->command)
        put(file.stream, "command", run->command);
    for (size_t i = 0; i < run->count; i++)
        if (test_log_flaky(&run->results[i]))
            put_flaky(file.stream, &run->results[i]);
    return trace_file_commit(&file);
}
