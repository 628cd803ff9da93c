/* results_tsv.c: writes results.tsv, one line for each test of a run: outcome,
 * nanoseconds, program, name, nanoseconds with its worker. It suits cut and
 * sort. */
#include <inttypes.h>

#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"
#include "harness/run/folder/run_folder.h"
#include "trace/base/file.h"

static void put_column(FILE *out, const char *text)
{
    struct trace_text line = {0};

    test_log_sanitize_line(&line, text);
    fputs(line.data ? line.data : "", out);
    trace_text_free(&line);
}

int test_log_write_results(const struct test_log_run *run, const char *name)
{
    struct trace_file file;

    if (test_log_create(run, name, &file))
        return -1;
    for (size_t i = 0; i < run->count; i++) {
        const struct test_log_result *result = &run->results[i];

        if (result->outcome == TEST_LOG_OUTCOME_NONE)
            continue;
        fprintf(file.stream, "%s\t%" PRIu64 "\t",
                test_log_outcome_word(test_log_counted_outcome(result)),
                result->duration);
        put_column(file.stream, result->program);
        fputc('\t', file.stream);
        put_column(file.stream, test_log_name(result));
        fprintf(file.stream, "\t%" PRIu64 "\n", result->occupied);
    }
    return trace_file_commit(&file);
}
