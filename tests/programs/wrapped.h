/* wrapped.h: every annotation, within assertions of test frameworks. These pass
 * their arguments on to further macros, to which a comma without parentheses
 * would be one more argument. */
#include <testlog/log.h>

/* X(an expression) */
#define EXPRESSIONS(X)                                                         \
    X(log_error("x %d %s", 1, "y"))                                            \
    X(log_at(WARN, "x"))                                                       \
    X(log_bridge_text(TRACE_LEVEL_INFO, "target", "file.c", 1, "text"))        \
    X(trace_event(INFO, "event", ("a", 1), ("b", 2.5)))                        \
    X(trace_counter("counter", 7))                                             \
    X(trace_signpost("header", "%d %d", 1, 2))                                 \
    X(trace_record(trace_span_current(), ("a", 1), ("b", "two")))              \
    X(trace_span_end(trace_span_begin(INFO, "span", ("a", 1), ("b", 2))))      \
    X(trace_span_end(trace_span_new(DEBUG, "span", ("a", 1), ("b", 2))))

/* X(a block) */
#define BLOCKS(X)                                                              \
    X({                                                                        \
        trace_span(INFO, "span", ("a", 1), ("b", 2));                          \
        log_info("x %d", 1);                                                   \
    })                                                                         \
    X({                                                                        \
        trace_function(DEBUG, ("a", 1), ("b", 2));                             \
        trace_span_in(trace_span_current(), WARN, "span", ("a", 1));           \
    })                                                                         \
    X({                                                                        \
        trace_span_enter(trace_span_current());                                \
        log_trace("x %d %d", 1, 2);                                            \
    })
