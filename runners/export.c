/* export.c: testlog export: writes a run as a trace for a viewer. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/writers.h"
#include "harness/runner/options.h"
#include "runners.h"

static void usage(void)
{
    puts("Usage: testlog export [RUN] [TEST...] [--chrome] [-o FILE]\n\n"
         "Writes what the tests of a run recorded, or only the given tests, "
         "as one trace.\nRUN is the folder of a run or of a test, or a "
         "recording, or a name in\ntestlog list; the default is the latest "
         "run. The run may have been killed.\n\n"
         "      --chrome       Chrome's trace event format, the only one so "
         "far\n"
         "  -o, --output FILE  write to FILE instead of standard output");
}

static int add(struct trace_chrome *chrome, const struct recording *recording,
               uint32_t pid)
{
    struct trace_reader *reader = runners_open(recording->path);
    struct trace_text title = {0};
    int result = -1;

    trace_text_printf(&title, "%s%s%s", recording->program,
                      *recording->program ? " " : "", recording->test);
    if (reader)
        result = trace_chrome_add(chrome, reader, pid,
                                  title.data ? title.data : recording->test);
    trace_text_free(&title);
    trace_reader_close(reader);
    return result;
}

static void write_all(const struct recordings *found, FILE *stream)
{
    struct trace_chrome chrome;

    trace_chrome_begin(&chrome, stream);
    chrome.several = found->count > 1;
    for (size_t i = 0; i < found->count; i++)
        if (add(&chrome, &found->all[i], (uint32_t)i + 1) && errno != EBADMSG)
            fprintf(stderr,
                    "testlog: export: cannot read %s: %s; the trace lacks "
                    "this test\n",
                    found->all[i].path, strerror(errno));
    trace_chrome_end(&chrome, NULL);
}

static int export(const struct recordings *found, const char *output)
{
    struct trace_file file;

    if (!output) {
        write_all(found, stdout);
        if (!fflush(stdout) && !ferror(stdout))
            return TEST_LOG_PASSED;
    } else if (!trace_file_open(&file, output)) {
        write_all(found, file.stream);
        if (!trace_file_commit(&file))
            return TEST_LOG_PASSED;
    }
    fprintf(stderr, "testlog: export: cannot write to %s: %s\n",
            output ? output : "standard output", strerror(errno));
    return TEST_LOG_FAILED;
}

int runners_export(int argc, char **argv)
{
    static const struct option options[] = {
        {"chrome", no_argument, NULL, 'C'},
        {"output", required_argument, NULL, 'o'},
        {"help", no_argument, NULL, 'h'},
        {0}};
    struct recordings found = {0};
    const char *output = NULL, *where;
    int flag, code;

    opterr = 0;
    while ((flag = getopt_long(argc, argv, ":o:h", options, NULL)) >= 0) {
        if (flag == 'h') {
            usage();
            return TEST_LOG_PASSED;
        }
        if (flag == '?' || flag == ':')
            return runners_refuse_flag("export", flag, argv, options);
        if (flag == 'o')
            output = test_log_report_is_stdout(optarg) ? NULL : optarg;
    }
    argv += optind;
    where = runners_run_of(&argv);
    if (!where)
        return TEST_LOG_USAGE;
    if (runners_recordings_find(&found, where, argv) || !found.count)
        return runners_recordings_refuse("export", where, argv);
    code = export(&found, output);
    runners_recordings_free(&found);
    return code;
}
