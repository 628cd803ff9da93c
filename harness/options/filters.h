/* filters.h: the filters of a run. Private. */
#ifndef TESTLOG_FILTERS_H
#define TESTLOG_FILTERS_H

#include "harness/options/options.h"

struct test_log_filters {
    struct log_filter *show, *record;
};

/* test_log_filters_check parses the filters of the options. If no part of a
 * filter can be parsed, the default replaces it. With `print`, it prints what
 * is wrong. */
void test_log_filters_check(struct test_log_filters *,
                            struct test_log_options *, bool print);
void test_log_filters_free(struct test_log_filters *);

/* test_log_filters_print prints which filters are in force. */
void test_log_filters_print(const struct test_log_options *);

/* test_log_filters_print_compiled_out warns if a filter asks for levels that
 * LOG_STATIC_MAX removed from every program of the run. */
void test_log_filters_print_compiled_out(const struct test_log_filters *,
                                         const struct test_log_run *);

/* test_log_filters_ask tells whether a filter is about GPUs. */
bool test_log_filters_ask(const struct test_log_filters *);

/* test_log_filters_find_unmatched notes in the run which directives matched no
 * call site, neither of this process nor of the recordings. */
void test_log_filters_find_unmatched(struct test_log_filters *,
                                     struct test_log_run *);

/* test_log_filters_add_unmatched notes that a glob of functions matched none.
 */
void test_log_filters_add_unmatched(struct test_log_run *, const char *origin,
                                    const char *glob);

#endif
