/* zone_counts.c: reads how many zones of kernels recordings have, and adds them
 * up for the run. */
#include <inttypes.h>
#include <stdlib.h>

#include "harness/results/model/gpu_state.h"
#include "harness/results/model/zone_counts.h"

void test_log_zones_read(struct test_log_zones *zones,
                         const struct trace_reader *reader)
{
    *zones = (struct test_log_zones){
        .clock = test_log_meta_text(reader, "gpu.zones.clock"),
#define TEST_LOG_X(name)                                                       \
    .name = test_log_meta_number(reader, "gpu.zones." #name),
        TRACE_ZONE_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    };
}

void test_log_zones_add(struct test_log_zones *all,
                        const struct test_log_zones *one)
{
    if (!all->clock)
        test_log_replace_text(&all->clock, one->clock);
#define TEST_LOG_X(name) all->name += one->name;
    TRACE_ZONE_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
}

void test_log_zones_free(struct test_log_zones *zones)
{
    free(zones->clock);
    *zones = (struct test_log_zones){.clock = NULL};
}

void test_log_zones_members(struct trace_text *text,
                            const struct test_log_zones *zones)
{
    const char *comma = "";

#define TEST_LOG_X(name)                                                       \
    trace_text_printf(text, "%s\"" #name "\":%" PRIu64, comma, zones->name);   \
    comma = ",";
    TRACE_ZONE_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    test_log_put_text(text, "clock", zones->clock);
}
