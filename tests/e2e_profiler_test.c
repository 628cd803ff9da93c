/* e2e_profiler_test.c: the profiler options, as users see them. */
#include "e2e.h"

#include <string.h>

E2E_FOLDER

TestSuite(e2e_profiler, .init = e2e_begin, .timeout = 180);

/* ---- host_tracer_level ---- */

static const struct {
    const char *settings;
    const char *recorded; /* of error, warn, info, debug, trace */
} levels[] = {
    {"TRACE_OPTIONS=host_tracer_level=0", ""},
    {"TRACE_OPTIONS=host_tracer_level=1", "an error;a warning;an info;"},
    {"TRACE_OPTIONS=host_tracer_level=2",
     "an error;a warning;an info;a debug;"},
    {"TRACE_OPTIONS=host_tracer_level=3",
     "an error;a warning;an info;a debug;a trace;span of trace;"},
    {"LOG=warn TRACE_OPTIONS=host_tracer_level=0", "an error;a warning;"},
};

static const char *recorded(void)
{
    static const char *const all[] = {"an error", "a warning", "an info",
                                      "a debug",  "a trace",   "span of trace"};
    const char *trace =
        e2e_read("testlog-runs/latest/tests/traced_test/traced.logs_all_levels/"
                 "trace.json");
    static char found[128];

    found[0] = '\0';
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strstr(trace, all[i]))
            strcat(strcat(found, all[i]), ";");
    return found;
}

Test(e2e_profiler, records_up_to_the_host_s_level)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        e2e_expect_code(e2e_run("%s %s --filter traced/logs_all_levels",
                                levels[i].settings,
                                e2e_program("traced", E2E_TRACED)),
                        0);
        e2e_expect_is(recorded(), levels[i].recorded);
    }
}
