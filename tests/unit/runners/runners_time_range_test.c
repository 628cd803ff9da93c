/* runners_time_range_test.c: parses times, and clips slices to them. */
#include "runners/stat/stat.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

enum { ROUNDS = 100000, TIMES = 12 };

/* ---- Parsing ---- */

Test(runners_time_range, parses_times)
{
    static const struct {
        const char *text;
        int64_t ns;
    } times[] = {
        {"0", 0},
        {"0s", 0},
        {"7ns", 7},
        {"250us", 250000},
        {"250µs", 250000},
        {"1.2ms", 1200000},
        {"1.000001ms", 1000001},
        {"1.0000019ms", 1000001}, /* less than 1 ns is cut off */
        {"0.3s", 300000000},
        {"3s", INT64_C(3000000000)},
        {"864000s", INT64_C(864000000000000)},
        {"-1.5us", -1500},
        {"-0", 0},
        {"007ns", 7},
    };

    for (size_t i = 0; i < sizeof(times) / sizeof(*times); i++) {
        int64_t ns = -1;

        cr_expect_eq(runners_read_time("--from", times[i].text, &ns), 0, "%s",
                     times[i].text);
        cr_expect_eq(ns, times[i].ns, "%s", times[i].text);
    }
}

Test(runners_time_range, refuses_other_texts)
{
    static const char *const texts[] = {
        "",       "-",       "5",       "ms",     "1.ms",
        ".5ms",   "1,5ms",   "1ms2",    "1 ms",   " 1ms",
        "+1ms",   "--1ms",   "1e3ms",   "0x10ms", "nan",
        "1.2.3s", "864001s", "1h",      "1MS",    "99999999999999999999999s",
        "1µ",     "1ms\n",   "infinite"};

    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        int64_t ns;

        cr_expect_eq(runners_read_time("--to", texts[i], &ns), -1, "%s",
                     texts[i]);
    }
}

/* ---- Clipping ---- */

/* Counts the moments of a slice that are in a window, one by one. */
static uint64_t count_moments(struct stat_window window, uint64_t begin,
                              uint64_t end)
{
    uint64_t count = 0;

    for (uint64_t at = begin; at < end; at++)
        count += at >= window.from && at < window.to;
    return count;
}

Test(runners_time_range, clips_as_one_counts)
{
    for (int i = 0; i < ROUNDS; i++) {
        uint64_t begin = (uint64_t)(rand() % TIMES);
        uint64_t end = begin + (uint64_t)(rand() % TIMES);
        uint64_t from = (uint64_t)(rand() % TIMES);
        const struct stat_window window = {
            from, from + 1 + (uint64_t)(rand() % TIMES)};
        uint64_t first = begin, last = end;
        bool inside = runners_window_clip(window, &first, &last);
        uint64_t moments = count_moments(window, begin, end);

        if (begin == end)
            cr_assert_eq(inside, begin >= window.from && begin < window.to);
        else
            cr_assert_eq(inside, moments > 0);
        cr_assert(!inside || last - first == moments);
    }
}

Test(runners_time_range, counts_from_the_zero)
{
    const struct stat_range range = {true, true, -300, 500};
    struct stat_window window = runners_window_of(&range, 1000);

    cr_expect_eq(window.from, 700);
    cr_expect_eq(window.to, 1500);
    window = runners_window_of(&range, 100);
    cr_expect_eq(window.from, 0);
    window = runners_window_of(&(struct stat_range){.ends = false}, 100);
    cr_expect_eq(window.from, 0);
    cr_expect_eq(window.to, UINT64_MAX);
}
