/* harness_function_filter_test.c: the filter of this program's functions. */
#include "tests/support/support.h"

#include "harness/symbols/symbols.h"
#include "trace/base/strings.h"

#include <criterion/criterion.h>
#include <limits.h>
#include <link.h>
#include <stdlib.h>
#include <sys/shm.h>

void __cyg_profile_func_enter(void *function, void *site);

/* The program counts because it has the hooks. */
void (*volatile filter_test_hook)(void *, void *) = __cyg_profile_func_enter;

static volatile int sink;

static __attribute__((noinline)) void find_this(void)
{
    sink++;
}

static __attribute__((noinline)) void find_that(void)
{
    sink--;
}

/* Shares the filter of a list, and attaches to it as a worker does. */
static const struct trace_function_filter *share(
    struct test_log_function_list *list, const char *text, uint64_t least)
{
    struct trace_anchor start = trace_anchor_now();
    struct test_log_recorded_code code = {.depth = 7, .least = least};
    void *memory;
    int id;

    if (text)
        cr_assert_null(test_log_function_list_read(&code.functions, text));
    id = test_log_function_filter_share(&code, &start);
    cr_assert_geq(id, 0);
    cr_expect_eq(code.hooked, text != NULL);
    *list = code.functions;
    memory = shmat(id, NULL, SHM_RDONLY);
    cr_assert_neq(memory, (void *)-1);
    return memory;
}

static int find_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uintptr_t *)bias = info->dlpi_addr;
    return 1; /* the program is the first one */
}

/* Returns whether a function of this program is recorded. */
static bool is_wanted(const struct trace_function_filter *filter,
                      void (*function)(void))
{
    const struct trace_filtered_module *module = filter->modules;
    uintptr_t bias = 0;
    char path[PATH_MAX];

    dl_iterate_phdr(find_bias, &bias);
    cr_assert(realpath("/proc/self/exe", path));
    while (module->path != trace_hash_string(TRACE_HASH, path))
        cr_assert_lt(++module - filter->modules, filter->module_count);
    return ((const unsigned char *)filter +
            module->wanted)[((uintptr_t)function - bias) >> TRACE_WANTED_SHIFT];
}

Test(harness_function_filter, has_the_functions_of_a_list)
{
    struct test_log_function_list list;
    const struct trace_function_filter *filter =
        share(&list, "find_th*,!*_that,missing", 0);

    cr_expect(is_wanted(filter, find_this));
    cr_expect_not(is_wanted(filter, find_that));
    cr_expect_not(filter->others);
    cr_expect_eq(filter->depth, 7);
    cr_expect(list.globs[0].matched && list.globs[1].matched);
    cr_expect_not(list.globs[2].matched);
    test_log_function_list_free(&list);
}

Test(harness_function_filter, has_all_but_those_of_a_list)
{
    struct test_log_function_list list;
    const struct trace_function_filter *filter = share(&list, "!find_that", 0);

    cr_expect(is_wanted(filter, find_this));
    cr_expect_not(is_wanted(filter, find_that));
    cr_expect(filter->others);
    test_log_function_list_free(&list);
}

Test(harness_function_filter, has_the_files_of_a_list)
{
    struct test_log_function_list list;
    const struct trace_function_filter *filter =
        share(&list, "lib:harness_symbols*", 0);

    cr_expect(is_wanted(filter, find_this) && is_wanted(filter, find_that));
    test_log_function_list_free(&list);
    filter = share(&list, "find_this,!lib:harness_symbols*", 0);
    cr_expect_not(is_wanted(filter, find_this));
    test_log_function_list_free(&list);
}

Test(harness_function_filter, needs_no_symbols_without_a_list)
{
    struct test_log_function_list list;
    const struct trace_function_filter *filter = share(&list, NULL, 1000);

    cr_expect_eq(filter->module_count, 0);
    cr_expect(filter->others);
    cr_expect_gt(filter->least, 0);
    filter = share(&list, NULL, UINT64_C(100000000000));
    cr_expect_eq(filter->least, UINT32_MAX - 1);
}

/* ---- Lines ---- */

void __sanitizer_cov_trace_pc(void);
void (*volatile filter_test_line_hook)(void) = __sanitizer_cov_trace_pc;

/* No block is found, because the functions do not call the hook. */
Test(harness_function_filter, has_the_lines_of_a_list)
{
    struct trace_anchor start = trace_anchor_now();
    struct test_log_recorded_code code = {.depth = 0};
    const struct trace_function_filter *filter;
    const unsigned char *lines;
    uintptr_t bias = 0;
    int id;

    cr_assert_null(test_log_line_list_read(&code.lines, "find_this,other.c:1"));
    id = test_log_function_filter_share(&code, &start);
    cr_assert_geq(id, 0);
    filter = shmat(id, NULL, SHM_RDONLY);
    cr_assert_neq((void *)filter, (void *)-1);
    cr_expect(code.lined && filter->lines && filter->others);
    cr_expect(code.lines.regions[0].matched && !code.lines.regions[1].matched);
    cr_assert_eq(filter->module_count, 1);
    cr_expect_eq(filter->modules->wanted, 0);
    dl_iterate_phdr(find_bias, &bias);
    lines = (const unsigned char *)filter + filter->modules->lines;
    cr_expect_not(lines[(uintptr_t)find_this - bias]);
    cr_expect(lines[(uintptr_t)find_this - bias + 1]);
    cr_expect_not(lines[(uintptr_t)find_that - bias + 1]);
    test_log_line_list_free(&code.lines);
}
