/* all.c: linked only on request, by -Wl,-u,test_log_all. */
#include "harness/session.h"

/* Its value links the runner, whose hook warns if Criterion's main runs. */
TRACE_API const void *const test_log_all = &test_log_before_all;
