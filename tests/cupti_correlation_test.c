/* cupti_correlation_test.c: which calls are remembered, and which launched.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "fuzz_activity.c"
#include "support.h"

TestSuite(cupti_correlation, .init = fuzz_begin);

enum { LAUNCH = 505, DRIVER_LAUNCH = 307, MALLOC = 20 };

static void note(uint32_t kind, uint32_t id, uint64_t begin, uint64_t end,
                 uint32_t correlation, uint32_t result)
{
    struct {
        uint32_t kind, id;
        uint64_t begin, end;
        uint32_t process, thread, correlation, result;
    } record = {kind, id, begin, end, 1, 7, correlation, result};
    struct cupti_record at = {(const uint8_t *)&record, sizeof(record), kind};

    cupti_call_note(&at);
}

static void note_span(uint32_t external, uint64_t span, uint32_t correlation)
{
    struct {
        uint32_t kind, external;
        uint64_t span;
        uint32_t correlation, unused;
    } record = {CUPTI_KIND_EXTERNAL_CORRELATION, external, span, correlation,
                0};
    struct cupti_record at = {(const uint8_t *)&record, sizeof(record),
                              record.kind};

    cupti_call_note(&at);
}

static void judged(uint64_t launches, uint64_t launched)
{
    cupti_call_count_launches();
    cr_expect_eq(cupti_counts.launches, launches, "%d",
                 (int)cupti_counts.launches);
    cr_expect_eq(cupti_counts.launched, launched, "%d",
                 (int)cupti_counts.launched);
    cr_expect_eq(cupti_counts.lost, launches - launched);
    cr_expect_null(cupti_call_find(1), "all is forgotten");
}

Test(cupti_correlation, a_call_is_found_by_its_id)
{
    cr_expect_null(cupti_call_find(1));
    note_span(CUPTI_EXTERNAL_CUSTOM0, 77, 1);
    cr_expect_not(cupti_call_find(1)->seen);
    note(CUPTI_KIND_RUNTIME, MALLOC, 100, 200, 1, 0);

    const struct cupti_call *call = cupti_call_find(1);

    cr_assert(call);
    cr_expect(call->seen);
    cr_expect_eq(call->span, 77);
    cr_expect_eq(call->thread, 7);
    cr_expect_eq(call->begin, 100);
    cr_expect_eq(call->end, 200);
    cr_expect_null(cupti_call_find(2));
    judged(0, 0);
}

Test(cupti_correlation, ids_of_other_clients_are_not_spans)
{
    note_span(5, 77, 1);
    cr_expect_null(cupti_call_find(1));
}

Test(cupti_correlation, of_nested_calls_the_outermost_counts)
{
    note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, 1, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    cr_expect_eq(cupti_call_find(1)->begin, 100);
    cr_expect_eq(cupti_call_find(1)->end, 200);
    cupti_call_find(1)->devices++;
    judged(1, 1);
}

/* Whichever of the two ids the kernel has. */
Test(cupti_correlation, nested_launches_of_two_ids_are_one)
{
    for (uint32_t id = 1; id <= 2; id++) {
        fuzz_begin();
        note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, 2, 0);
        note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
        cupti_call_find(id)->devices++;
        judged(1, 1);
    }
    fuzz_begin();
    note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, 2, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    judged(1, 0);
}

Test(cupti_correlation, launches_after_one_another_are_two)
{
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 200, 300, 2, 0);
    cupti_call_find(2)->devices++;
    judged(2, 1);
}

Test(cupti_correlation, a_failed_launch_launches_nothing)
{
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 98);
    note(CUPTI_KIND_RUNTIME, MALLOC, 300, 400, 2, 0);
    judged(0, 0);
}

Test(cupti_correlation, launches_of_cuda_13_are_launches)
{
    cr_expect(cupti_launches(CUPTI_DOMAIN_RUNTIME, 505));
    cr_expect(cupti_launches(CUPTI_DOMAIN_RUNTIME, 506));
    cr_expect(cupti_launches(CUPTI_DOMAIN_RUNTIME, 211));
    cr_expect(cupti_launches(CUPTI_DOMAIN_DRIVER, 307));
    cr_expect_not(cupti_launches(CUPTI_DOMAIN_DRIVER, 505));
    cr_expect_not(cupti_launches(CUPTI_DOMAIN_RUNTIME, 0));
    cr_expect_str_eq(cupti_compile_stage(CUPTI_DOMAIN_DRIVER, 20),
                     "module_load");
    cr_expect_null(cupti_compile_stage(CUPTI_DOMAIN_RUNTIME, 20));
}

/* The oldest make way, and are judged then. */
Test(cupti_correlation, memory_is_bounded)
{
    enum { MOST = 1 << 18, MORE = 1000 };

    for (uint32_t i = 1; i <= MOST + MORE; i++) {
        struct cupti_call *call = cupti_call_add(i);

        cr_assert(call);
        call->launches = true;
        call->devices = i % 2;
    }
    cr_expect_null(cupti_call_find(MORE));
    cr_expect(cupti_call_find(MORE + 1));
    cr_expect_eq(cupti_call_find(MOST + MORE)->correlation, MOST + MORE);
    cr_expect_eq(cupti_counts.launches, MORE);
    judged(MOST + MORE, (MOST + MORE) / 2);
}

Test(cupti_correlation, without_memory_it_keeps_what_it_has_room_for)
{
    if (!test_can_fail_memory())
        cr_skip("a sanitizer owns the memory");
    test_fail_memory(1, false);
    cr_expect_null(cupti_call_add(1));
    test_fail_memory(0, false);
    for (uint32_t i = 1; i <= 1024; i++)
        cr_assert(cupti_call_add(i));
    test_fail_memory(1, false);
    cr_expect(cupti_call_add(1025), "the oldest makes way");
    test_fail_memory(2, true);
    cr_expect(cupti_call_add(1026));
    test_fail_memory(0, false);
    cr_expect_null(cupti_call_find(1));
    cr_expect(cupti_call_find(1026));
    cupti_call_count_launches();
}
