/* harness_function_names_test.c: functions of this program, by their addresses.
 */
#include "tests/support/support.h"

#include "harness/symbols/symbols.h"
#include "trace/base/file.h"

#include <criterion/criterion.h>
#include <link.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char path[4096];

static int find_bias(struct dl_phdr_info *info, size_t size, void *bias)
{
    (void)size;
    *(uint64_t *)bias = info->dlpi_addr;
    return 1; /* the program is the first one */
}

static uint64_t own_address(void)
{
    uint64_t bias = 0;

    dl_iterate_phdr(find_bias, &bias);
    return (uint64_t)(uintptr_t)find_bias - bias;
}

static unsigned char stamp[TRACE_FILE_STAMP];

static struct trace_module_file own_file(void)
{
    ssize_t size = readlink("/proc/self/exe", path, sizeof(path) - 1);

    cr_assert_gt(size, 0);
    path[size] = '\0';
    return (struct trace_module_file){path, stamp,
                                      trace_file_stamp(path, stamp)};
}

Test(harness_function_names, finds_name_file_and_line)
{
    struct trace_module_file file = own_file();
    struct test_log_module *module = test_log_module_open(&file);
    struct test_log_symbol symbol;

    cr_assert_not_null(module);
    cr_assert(test_log_module_function(module, own_address(), &symbol));
    cr_expect_str_eq(symbol.symbol, "find_bias");
    cr_assert_not_null(symbol.file);
    cr_expect_not_null(strstr(symbol.file, "harness_function_names_test.c"));
    cr_expect_gt(symbol.line, 10);
    test_log_module_close(module);
}

Test(harness_function_names, names_only_the_beginning_of_a_function)
{
    struct trace_module_file file = own_file();
    struct test_log_module *module = test_log_module_open(&file);
    struct test_log_symbol symbol;

    cr_assert_not_null(module);
    cr_expect_not(test_log_module_function(module, own_address() + 1, &symbol));
    cr_expect_not(test_log_module_function(module, UINT64_MAX, &symbol));
    test_log_module_close(module);
}

Test(harness_function_names, refuses_a_file_with_another_build_id)
{
    struct trace_module_file file = own_file();

    file.build_id = (const unsigned char *)"other";
    file.build_id_size = 5;
    cr_expect_null(test_log_module_open(&file));
    file.build_id_size = 0;
    cr_expect_null(test_log_module_open(&file), "it may be another one");
    file = own_file();
    stamp[TRACE_FILE_STAMP - 1] ^= 1;
    cr_expect_null(test_log_module_open(&file));
    file = (struct trace_module_file){.path = "/dev/null"};
    cr_expect_null(test_log_module_open(&file));
    file.path = "missing";
    cr_expect_null(test_log_module_open(&file));
}

/* A recording names the file. */
Test(harness_function_names, opens_only_files_of_programs, .timeout = 30)
{
    static const char *const names[] = {"fifo",    "/dev/zero", ".",
                                        "missing", "text",      ""};

    test_folder();
    cr_assert_eq(mkfifo(test_path("fifo"), 0600), 0);
    test_save(test_path("text"), "#!/bin/sh\n", 10);
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        struct trace_module_file file = {
            .path = names[i][0] == '/' ? names[i] : test_path(names[i])};

        file.build_id = stamp;
        file.build_id_size = trace_file_stamp(file.path, stamp);
        cr_expect_null(test_log_module_open(&file), "%s", names[i]);
    }
}
