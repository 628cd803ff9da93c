/* annotated.c: every annotation. Lines marked "gone" leave no code when off. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>

/* How often an argument of level INFO, and of DEBUG, is evaluated. */
#ifndef TRACING
enum { ONCE = 0, ONCE_FINE = 0 };
#elif defined(LOG_STATIC_MAX)
enum { ONCE = 1, ONCE_FINE = 0 };
#else
enum { ONCE = 1, ONCE_FINE = 1 };
#endif

struct pair {
    int key;
    const char *value;
};

static int count;

int evaluated(void);
int evaluated(void)
{
    return ++count;
}

static int find(const struct pair *pairs, int size, int key)
{
    trace_function(DEBUG, (key), ("of", size)); /* gone */
    for (int i = 0; i < size; i++) {
        trace_span(TRACE, "look", (i));         /* gone */
        log_trace("%d is %d", i, pairs[i].key); /* gone */
        if (pairs[i].key == key)
            return i;
    }
    trace_event(WARN, "missing", (key), ("e", trace_errno(2))); /* gone */
    return -1;
}

TEST_LOG(annotated, finds)
{
    static const struct pair pairs[] = {{1, "one"}, {2, "two"}};

    trace_span(INFO, "outer");                                      /* gone */
    trace_span(INFO, "fields", (count), ("text", "a"), ("f", 0.5)); /* gone */
    log_error("an error %s", strerror(errno));                      /* gone */
    log_warn("no arguments");                                       /* gone */
    log_info("%d and %zu", evaluated(), sizeof(pairs));             /* gone */
    log_debug("%s", pairs[0].value);                                /* gone */
    log_at(INFO, "%d", count);                                      /* gone */
    cr_assert_eq(find(pairs, 2, 2), 1);
    cr_assert_eq(count, ONCE);
}

TEST_LOG(annotated, evaluates_info_arguments)
{
    trace_function(INFO, (evaluated()));                           /* gone */
    trace_span(INFO, "s", (evaluated()));                          /* gone */
    trace_span_in(trace_span_current(), INFO, "s", (evaluated())); /* gone */
    trace_event(INFO, "e", ("e", evaluated()));                    /* gone */
    log_at(INFO, "%d", evaluated());                               /* gone */
    log_info("%d", evaluated());                                   /* gone */
    trace_span_end(trace_span_begin(INFO, "b", (evaluated())));    /* gone */
    trace_span_end(trace_span_new(INFO, "n", (evaluated())));      /* gone */
    trace_record(trace_span_current(), (evaluated()));             /* gone */
    if (log_enabled(INFO))                                         /* gone */
        evaluated();                                               /* gone */
    cr_assert_eq(count, 10 * ONCE, "%d", count);
}

TEST_LOG(annotated, evaluates_debug_arguments)
{
    trace_function(DEBUG, (evaluated()));                           /* gone */
    trace_span(DEBUG, "s", (evaluated()));                          /* gone */
    trace_span_in(trace_span_current(), DEBUG, "s", (evaluated())); /* gone */
    trace_event(DEBUG, "e", ("e", evaluated()));                    /* gone */
    log_at(DEBUG, "%d", evaluated());                               /* gone */
    log_debug("%d", evaluated());                                   /* gone */
    trace_span_end(trace_span_begin(DEBUG, "b", (evaluated())));    /* gone */
    trace_span_end(trace_span_new(DEBUG, "n", (evaluated())));      /* gone */
    trace_record(trace_span_new(DEBUG, "n"), (evaluated()));        /* gone */
    if (log_enabled(TRACE))                                         /* gone */
        evaluated();                                                /* gone */
    cr_assert_eq(count, 10 * ONCE_FINE, "%d", count);
}

TEST_LOG(annotated, has_options, .timeout = 5, .description = "options")
{
    if (log_enabled(DEBUG))  /* gone */
        log_debug("wanted"); /* gone */
    trace_disable();         /* gone */
    trace_enable();          /* gone */
    cr_assert(true);
}

#ifdef __OPTIMIZE__ /* the user's variable stays at -O0 */
TEST_LOG(annotated, begins_and_ends)
{
    struct trace_span_ref s = trace_span_begin(INFO, "begun"); /* gone */

    trace_record(s, ("late", 2)); /* gone */
    {
        trace_span_enter(s); /* gone */
    }
    trace_span_end(s); /* gone */
}
#endif

TEST_LOG_DEFAULT("info,kv=trace", annotated, has_a_default)
{
    cr_assert(true);
}

ParameterizedTestParameters(annotated, sizes)
{
    static int numbers[] = {1, 2, 3};

    return cr_make_param_array(int, numbers, 3);
}

PARAMETERIZED_TEST_LOG(int *number, annotated, sizes, .timeout = 5)
{
    trace_event(INFO, "size", ("number", *number)); /* gone */
    cr_assert_gt(*number, 0);
}

TheoryDataPoints(annotated, commutes) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 3, 4),
};

THEORY_LOG((int a, int b), annotated, commutes)
{
    log_info("%d and %d", a, b); /* gone */
    cr_assert_eq(a + b, b + a);
}
