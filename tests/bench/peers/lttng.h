/* lttng.h: the tracepoints of lttng.c; the library's macros include this file
 * repeatedly.
 */
#undef TRACEPOINT_PROVIDER
#define TRACEPOINT_PROVIDER bench
#undef TRACEPOINT_INCLUDE
#define TRACEPOINT_INCLUDE "./lttng.h"

#if !defined(TESTS_BENCH_LTTNG_H) || defined(TRACEPOINT_HEADER_MULTI_READ)
#    define TESTS_BENCH_LTTNG_H

#    include <lttng/tracepoint.h>

TRACEPOINT_EVENT(bench, begin, TP_ARGS(int, index),
                 TP_FIELDS(ctf_integer(int, index, index)))
TRACEPOINT_EVENT(bench, end, TP_ARGS(int, index),
                 TP_FIELDS(ctf_integer(int, index, index)))
TRACEPOINT_EVENT(bench, off, TP_ARGS(int, index),
                 TP_FIELDS(ctf_integer(int, index, index)))
TRACEPOINT_EVENT(bench, fetched,
                 TP_ARGS(int, index, double, share, const char *, key),
                 TP_FIELDS(ctf_integer(int, index, index)
                               ctf_float(double, share, share)
                                   ctf_string(key, key)))
#endif

#include <lttng/tracepoint-event.h>
