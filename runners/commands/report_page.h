/* report_page.h: a run as report.html shows it. Private. */
#ifndef TESTLOG_REPORT_PAGE_H
#define TESTLOG_REPORT_PAGE_H

#include "harness/run/page/report_html.h"

/* What is read of a run; the zero value is empty. */
struct report_page {
    struct test_log_run run;
    struct trace_text members; /* of run.json, for the page */
    char *command;             /* to run failed tests again, without filters */
    char *debug;               /* to run one in a debugger */
    struct test_log_page_program *programs;
    size_t program_count, program_capacity;
};

/* runners_page_read reads the run in a folder, even if it was killed; -1 if it
 * has neither results nor recordings. `run.open` may be set before. Call
 * runners_page_free in any case. */
int runners_page_read(struct report_page *, const char *where);
void runners_page_free(struct report_page *);

/* runners_rerun_of returns the command that runs tests of a run in the folder
 * `where` again, to which their names are added, to be freed; NULL if there is
 * none. `debugs`: it goes with --debug-failed. */
char *runners_rerun_of(const struct test_log_run *, const char *where,
                       bool debugs);

/* runners_page_of returns the contents of the page, which `page` owns. */
struct test_log_page runners_page_of(const struct report_page *page);

#endif
