/* harness_frame_rules_test.c: how to find callers of this program's functions.
 */
#include "tests/support/support.h"

#include "harness/symbols/symbols.h"

#include <criterion/criterion.h>
#include <link.h>
#include <string.h>

static volatile int sink;

static __attribute__((noinline)) void leaf(void)
{
    sink++;
}

/* The place in the file of an address of this program. */
static int find_place(struct dl_phdr_info *info, size_t size, void *place)
{
    uint64_t address = *(uint64_t *)place - info->dlpi_addr;

    (void)size;
    for (int i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *segment = &info->dlpi_phdr[i];

        if (segment->p_type == PT_LOAD &&
            address - segment->p_vaddr < segment->p_memsz)
            *(uint64_t *)place = address - segment->p_vaddr + segment->p_offset;
    }
    return 1;
}

static struct test_log_module *open_program(void)
{
    struct test_log_module *module = test_log_module_load("/proc/self/exe");

    cr_assert_not_null(module);
    return module;
}

/* At its first instruction, a function has only its return address. */
Test(harness_frame_rules, knows_where_functions_return)
{
    struct test_log_module *module = open_program();
    uint64_t place = (uintptr_t)leaf;
    struct trace_frame_rules rules;

    leaf();
    dl_iterate_phdr(find_place, &place);
    cr_assert(test_log_module_rules(module, place, &rules));
    cr_expect_not(rules.by_frame || rules.indirect);
    cr_expect_eq(rules.frame.how, TRACE_SAVED_SAME);
#if defined(__x86_64__)
    cr_expect_eq(rules.offset, 8);
    cr_expect_eq(rules.back.how, TRACE_SAVED_ON_STACK);
    cr_expect_eq(rules.back.offset, -8);
#endif
    test_log_module_close(module);
}

Test(harness_frame_rules, knows_nothing_of_what_is_no_code)
{
    struct test_log_module *module = open_program();
    struct trace_frame_rules rules;

    cr_expect_not(test_log_module_rules(module, 0, &rules));
    cr_expect_not(test_log_module_rules(module, UINT64_MAX, &rules));
    test_log_module_close(module);
}
