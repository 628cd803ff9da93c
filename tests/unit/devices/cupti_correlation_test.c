/* cupti_correlation_test.c: remembers calls and counts launches. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/fuzz/fuzz_activity.h"
#include "tests/support/support.h"

TestSuite(cupti_correlation, .init = fuzz_begin);

enum {
    LAUNCH = 505,
    DRIVER_LAUNCH = 307,
    MALLOC = 20,
    BEGIN = 315,
    DRIVER_BEGIN = 539,
    END = 319,
    QUERY = 138,
    COPY = 41,
    DRIVER_END = 497,
};

static void note_on(uint32_t thread, uint32_t kind, uint32_t id, uint64_t begin,
                    uint64_t end, uint32_t correlation, uint32_t result)
{
    struct {
        uint32_t kind, id;
        uint64_t begin, end;
        uint32_t process, thread, correlation, result;
    } record = {kind, id, begin, end, 1, thread, correlation, result};
    struct cupti_record at = {(const uint8_t *)&record, sizeof(record), kind};

    cupti_call_note(&cupti.decoder, &at);
}

static void note(uint32_t kind, uint32_t id, uint64_t begin, uint64_t end,
                 uint32_t correlation, uint32_t result)
{
    note_on(7, kind, id, begin, end, correlation, result);
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

    cupti_call_note(&cupti.decoder, &at);
}

static void expect_captured(uint64_t launches, uint64_t launched,
                            uint64_t captured)
{
    cupti_call_count_launches(&cupti.decoder);
    cr_expect_eq(cupti.decoder.counts.launches, launches, "%d",
                 (int)cupti.decoder.counts.launches);
    cr_expect_eq(cupti.decoder.counts.launched, launched, "%d",
                 (int)cupti.decoder.counts.launched);
    cr_expect_eq(cupti.decoder.counts.lost, launches - launched - captured);
    cr_expect_eq(cupti.decoder.counts.captured, captured, "%d",
                 (int)cupti.decoder.counts.captured);
    cr_expect_null(cupti_call_find(&cupti.decoder, 1), "a call is still known");
}

static void expect_counts(uint64_t launches, uint64_t launched)
{
    expect_captured(launches, launched, 0);
}

Test(cupti_correlation, finds_a_call_by_its_id)
{
    cr_expect_null(cupti_call_find(&cupti.decoder, 1));
    note_span(CUPTI_EXTERNAL_CUSTOM0, 77, 1);
    cr_expect_not(cupti_call_find(&cupti.decoder, 1)->seen);
    note(CUPTI_KIND_RUNTIME, MALLOC, 100, 200, 1, 0);

    const struct cupti_call *call = cupti_call_find(&cupti.decoder, 1);

    cr_assert(call);
    cr_expect(call->seen);
    cr_expect_eq(call->span, 77);
    cr_expect_eq(call->thread, 7);
    cr_expect_eq(call->begin, 100);
    cr_expect_eq(call->end, 200);
    cr_expect_null(cupti_call_find(&cupti.decoder, 2));
    expect_counts(0, 0);
}

Test(cupti_correlation, ignores_ids_of_other_clients)
{
    note_span(5, 77, 1);
    cr_expect_null(cupti_call_find(&cupti.decoder, 1));
}

Test(cupti_correlation, keeps_the_outermost_of_nested_calls)
{
    note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, 1, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    cr_expect_eq(cupti_call_find(&cupti.decoder, 1)->begin, 100);
    cr_expect_eq(cupti_call_find(&cupti.decoder, 1)->end, 200);
    cupti_call_find(&cupti.decoder, 1)->devices++;
    expect_counts(1, 1);
}

/* The kernel may have either of the two ids. */
Test(cupti_correlation, counts_nested_launches_once)
{
    for (uint32_t id = 1; id <= 2; id++) {
        fuzz_begin();
        note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, 2, 0);
        note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
        cupti_call_find(&cupti.decoder, id)->devices++;
        expect_counts(1, 1);
    }
    fuzz_begin();
    note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, 2, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    expect_counts(1, 0);
}

/* In a buffer that threads share, their records are interleaved. */
Test(cupti_correlation, pairs_nested_launches_of_many_threads)
{
    enum { THREADS = 100 };

    for (uint32_t i = 1; i <= THREADS; i++)
        note_on(i, CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 110, 190, i, 0);
    for (uint32_t i = 1; i <= THREADS; i++)
        note_on(i, CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1000 + i, 0);
    for (uint32_t i = 1; i <= THREADS; i++)
        cupti_call_find(&cupti.decoder, i)->devices++;
    expect_counts(THREADS, THREADS);
}

Test(cupti_correlation, counts_successive_launches_separately)
{
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 200, 300, 2, 0);
    cupti_call_find(&cupti.decoder, 2)->devices++;
    expect_counts(2, 1);
}

Test(cupti_correlation, ignores_failed_launches)
{
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 98);
    note(CUPTI_KIND_RUNTIME, MALLOC, 300, 400, 2, 0);
    expect_counts(0, 0);
}

Test(cupti_correlation, recognizes_the_launches_of_cuda_13)
{
    cr_expect_eq(cupti_role(CUPTI_DOMAIN_RUNTIME, 505), CUPTI_ROLE_LAUNCH);
    cr_expect_eq(cupti_role(CUPTI_DOMAIN_RUNTIME, 506), CUPTI_ROLE_LAUNCH);
    cr_expect_eq(cupti_role(CUPTI_DOMAIN_RUNTIME, 211), CUPTI_ROLE_LAUNCH);
    cr_expect_eq(cupti_role(CUPTI_DOMAIN_DRIVER, 307), CUPTI_ROLE_LAUNCH);
    cr_expect_eq(cupti_role(CUPTI_DOMAIN_DRIVER, 505), CUPTI_ROLE_OTHER);
    cr_expect_eq(cupti_role(CUPTI_DOMAIN_RUNTIME, 0), CUPTI_ROLE_OTHER);
    cr_expect_str_eq(cupti_compile_stage(CUPTI_DOMAIN_DRIVER, 20),
                     "module_load");
    cr_expect_null(cupti_compile_stage(CUPTI_DOMAIN_RUNTIME, 20));
}

/* ---- Captures ---- */

static void note_capture(uint64_t begin, uint64_t end, uint32_t result)
{
    note(CUPTI_KIND_DRIVER, DRIVER_BEGIN, begin + 1, begin + 2, 900, 0);
    note(CUPTI_KIND_RUNTIME, BEGIN, begin, begin + 3, 900, 0);
    note(CUPTI_KIND_DRIVER, DRIVER_END, end - 2, end - 1, 901, result);
    note(CUPTI_KIND_RUNTIME, END, end - 3, end, 901, result);
}

Test(cupti_correlation, counts_launches_without_work_in_a_capture)
{
    note(CUPTI_KIND_RUNTIME, LAUNCH, 50, 60, 1, 0);
    note_capture(100, 200, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 110, 120, 2, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 130, 140, 3, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 250, 260, 4, 0);
    cupti_call_find(&cupti.decoder, 3)->devices++; /* into another stream */
    expect_captured(4, 1, 1);
}

Test(cupti_correlation, counts_nested_launches_in_a_capture_once)
{
    note_capture(100, 200, 0);
    note(CUPTI_KIND_DRIVER, DRIVER_LAUNCH, 111, 119, 2, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 110, 120, 1, 0);
    expect_captured(1, 0, 1);
}

/* Buffers of other threads may arrive first. */
Test(cupti_correlation, accepts_captures_in_any_order)
{
    note_capture(1000, 2000, 0);
    note_capture(100, 300, 0);
    note_capture(200, 400, 0);
    for (uint32_t i = 1; i <= 20; i++)
        note(CUPTI_KIND_RUNTIME, LAUNCH, i * 100 + 50, i * 100 + 60, i, 0);
    expect_captured(20, 0, 13);
}

/* The last window begins when the one before it ends, and so on. */
Test(cupti_correlation, finds_many_captures_in_reverse_order)
{
    enum { WINDOWS = 1 << 14 };

    for (uint64_t i = WINDOWS; i > 0; i--)
        note_capture(i * 100, (i + 1) * 100, 0);
    cr_expect_not(cupti_capture_covers(&cupti.decoder.captures, 99));
    for (uint64_t i = 1; i <= WINDOWS; i++)
        cr_expect(cupti_capture_covers(&cupti.decoder.captures, i * 100 + 50),
                  "%d", (int)i);
    cr_expect_not(
        cupti_capture_covers(&cupti.decoder.captures, (WINDOWS + 1) * 100));
}

Test(cupti_correlation, continues_a_capture_after_a_failed_end)
{
    enum { WRONG_THREAD = 908, INVALIDATED = 901 };

    note_capture(100, 200, WRONG_THREAD);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 210, 220, 1, 0);
    note(CUPTI_KIND_RUNTIME, END, 300, 310, 2, INVALIDATED);
    note(CUPTI_KIND_DRIVER, DRIVER_END, 301, 309, 2, INVALIDATED);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 410, 420, 3, 0);
    expect_captured(2, 0, 1);
}

Test(cupti_correlation, ignores_captures_that_did_not_begin)
{
    note(CUPTI_KIND_RUNTIME, BEGIN, 100, 110, 1, 401);
    note(CUPTI_KIND_RUNTIME, END, 120, 130, 2, 0);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 140, 150, 3, 0);
    expect_counts(1, 0);
    cr_expect_not(cupti_capture_covers(&cupti.decoder.captures, 145),
                  "a capture was not forgotten");
}

/* The oldest calls are counted and removed. */
Test(cupti_correlation, bounds_the_number_of_calls)
{
    enum { MOST = 1 << 18, MORE = 1000 };

    for (uint32_t i = 1; i <= MOST + MORE; i++) {
        struct cupti_call *call = cupti_call_add(&cupti.decoder, i);

        cr_assert(call);
        call->launches = true;
        call->devices = i % 2;
    }
    cr_expect_null(cupti_call_find(&cupti.decoder, MORE));
    cr_expect(cupti_call_find(&cupti.decoder, MORE + 1));
    cr_expect_eq(cupti_call_find(&cupti.decoder, MOST + MORE)->correlation,
                 MOST + MORE);
    cr_expect_eq(cupti.decoder.counts.launches, MORE);
    expect_counts(MOST + MORE, (MOST + MORE) / 2);
}

enum { POLLS = 1000000, NOT_READY = 600 };

static void poll_for_long(void)
{
    for (uint32_t i = 0; i < POLLS; i++)
        note(CUPTI_KIND_RUNTIME, QUERY, 1000 + i, 1001 + i, 1000 + i,
             NOT_READY);
}

Test(cupti_correlation, keeps_other_calls_while_a_program_polls)
{
    note_span(CUPTI_EXTERNAL_CUSTOM0, 77, 1);
    note(CUPTI_KIND_RUNTIME, LAUNCH, 100, 200, 1, 0);
    note_span(CUPTI_EXTERNAL_CUSTOM0, 78, 2);
    note(CUPTI_KIND_RUNTIME, COPY, 300, 400, 2, 0);
    poll_for_long();
    for (uint32_t i = 1; i <= 2; i++) {
        cr_assert(cupti_call_find(&cupti.decoder, i), "%d", (int)i);
        cr_expect_eq(cupti_call_find(&cupti.decoder, i)->span, 76 + i);
        cr_expect_eq(cupti_call_find(&cupti.decoder, i)->begin, 200 * i - 100);
    }
    cr_expect(cupti_call_find(&cupti.decoder, 1000 + POLLS - 1));
    cr_expect_null(cupti_call_find(&cupti.decoder, 1000));
    cupti_call_find(&cupti.decoder, 1)->devices++;
    expect_counts(1, 1);
}

Test(cupti_correlation, keeps_launches_among_many_other_calls)
{
    for (uint32_t i = 1; i <= 400000; i++)
        if (i % 100)
            note(CUPTI_KIND_RUNTIME, MALLOC, i, i + 1, i, 0);
        else
            note(CUPTI_KIND_RUNTIME, LAUNCH, i, i + 1, i, 0);
    for (uint32_t i = 100; i <= 400000; i += 100) {
        cr_assert(cupti_call_find(&cupti.decoder, i), "%d", (int)i);
        cr_assert_eq(cupti_call_find(&cupti.decoder, i)->begin, i);
        cupti_call_find(&cupti.decoder, i)->devices++;
    }
    cr_expect_null(cupti_call_find(&cupti.decoder, 1));
    expect_counts(4000, 4000);
}

Test(cupti_correlation, keeps_recent_calls_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip("a sanitizer owns the memory");
    test_fail_memory(1, false);
    cr_expect_null(cupti_call_add(&cupti.decoder, 1));
    test_fail_memory(0, false);
    for (uint32_t i = 1; i <= 1024; i++)
        cr_assert(cupti_call_add(&cupti.decoder, i));
    test_fail_memory(1, false);
    cr_expect(cupti_call_add(&cupti.decoder, 1025),
              "the oldest was not replaced");
    test_fail_memory(2, true);
    cr_expect(cupti_call_add(&cupti.decoder, 1026));
    test_fail_memory(0, false);
    cr_expect_null(cupti_call_find(&cupti.decoder, 1));
    cr_expect(cupti_call_find(&cupti.decoder, 1026));
    cupti_call_count_launches(&cupti.decoder);
}
