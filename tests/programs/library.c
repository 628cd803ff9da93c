/* library.c: every macro, in all kinds of code. Without TRACING, no marked line
 * leaves code; with LOG_STATIC_MAX=info, those marked "debug" don't; with
 * "off", only those marked "kept" do. */
#include <stdarg.h>
#include <stdio.h>

#include <testlog/log.h>
#include <testlog/zone.h>

struct point {
    int x, y;
};

int work(int);
int places(int);
int spans(struct trace_span_ref);
int values(struct point);
void recording(void);
void bridge(const char *file, int line, const char *format, ...);

static inline void print(struct trace_text *out, const void *object) /* gone */
{                                                                    /* gone */
    const struct point *point = object;                              /* gone */
                                                                     /* gone */
    trace_text_printf(out, "%d %d", point->x, point->y);             /* gone */
} /* gone */

static inline int only_here(int x) /* gone */
{                                  /* gone */
    return x + 1;                  /* gone */
} /* gone */

static inline int half(int x)
{
    trace_function(DEBUG, (x)); /* debug */
    log_trace("%d / 2", x);     /* debug */
    log_warn("%d / 2", x);      /* gone */
    return x / 2;
}

int work(int x)
{
    int calls = 0;

    trace_function(INFO, (x), ("twice", 2 * x));       /* gone */
    trace_function(TRACE);                             /* debug */
    trace_span(WARN, "two");                           /* gone */
    trace_span(DEBUG, "in one", (calls));              /* debug */
    log_error("%d", x);                                /* gone */
    log_warn("nothing");                               /* gone */
    log_info("%s %d %s", __func__, ++calls, __FILE__); /* gone */
    log_debug("%d", ++calls);                          /* debug */
    log_trace("%d", only_here(++calls));               /* debug */
    log_at(ERROR, "%d", only_here(++calls));           /* gone */
    log_at(TRACE, "%g", ++calls / 2.0);                /* debug */
    trace_event(ERROR, "error", (++calls), (x));       /* gone */
    trace_event(TRACE, "trace", ("n", ++calls));       /* debug */
    return half(x) + calls;
}

int places(int x)
{
    for (int i = 0; i < x; i++) {
        trace_span(INFO, "round", (i));  /* gone */
        trace_span(TRACE, "round", (i)); /* debug */
        if (i % 2)
            continue;
        log_debug("%d is even", i); /* debug */
    }
    switch (x) {
    case 1:
        trace_event(INFO, "one");  /* gone */
        trace_event(TRACE, "one"); /* debug */
        break;
    case 2: {
        trace_span(DEBUG, "two"); /* debug */
        log_at(DEBUG, "two");     /* debug */
        return 2;
    }
    default:
        x++;
        log_trace("%d", x);          /* debug */
        if (log_enabled(ERROR) && x) /* gone */
            log_error("%d", x);      /* gone */
        else                         /* gone */
            log_info("%d", x);       /* gone */
        if (log_enabled(DEBUG))      /* debug */
            printf("%d\n", ++x);     /* debug */
    }
    do {
        trace_function(DEBUG); /* debug */
        {
            trace_function(ERROR);         /* gone */
            trace_span(TRACE, "in", (x));  /* debug */
            trace_event(DEBUG, "in", (x)); /* debug */
        }
    } while (x-- > 10);
    goto out;
out:
    log_info("out"); /* gone */
    return x;
}

int spans(struct trace_span_ref span)
{
    trace_span_in(span, INFO, "in", ("of", span.place));       /* gone */
    trace_span_in(span, DEBUG, "in", ("of", span.place));      /* debug */
    trace_span_in(trace_span_current(), TRACE, "in");          /* debug */
    trace_span_enter(span);                                    /* kept */
    trace_span_enter(trace_span_current());                    /* kept */
    trace_span_enter(trace_span_new(INFO, "new"));             /* kept */
    trace_record(span, ("status", 200), ("s", span.place));    /* kept */
    trace_record(trace_span_current(), ("status", 200));       /* kept */
    trace_record(trace_span_new(INFO, "new"), ("s", 200));     /* kept */
    trace_span_end(span);                                      /* kept */
    trace_span_end(trace_span_begin(INFO, "b", (span.place))); /* kept */
#ifdef __OPTIMIZE__ /* a value that is used stays at -O0 */
    span = trace_span_begin(WARN, "b", ("s", trace_empty())); /* gone */
    span = trace_span_begin(TRACE, "b", ("s", 1));            /* debug */
    (void)trace_span_new(ERROR, "n");                         /* gone */
    trace_span_new(TRACE, "n", (span.place));                 /* debug */
#endif
    return 0;
}

int values(struct point at)
{
    const unsigned char bytes[] = {1, 2};
    int (*function)(int) = work;
    long double l = at.x;

    trace_event(INFO, "e", ("b", trace_bool(1)), ("f", .5f), (l));  /* gone */
    trace_event(DEBUG, "e", ("b", trace_bool(1)), ("f", 1.5), (l)); /* debug */
    trace_event(INFO, "t", ("t", "t"), ("s", trace_string("ab", 1))); /* gone */
    trace_event(TRACE, "e", ("b", trace_bytes(bytes, 2)));      /* debug */
    trace_event(TRACE, "e", ("at", &at), (function), (bytes));  /* debug */
    trace_event(WARN, "e", ("at", trace_display(print, &at)));  /* gone */
    trace_event(TRACE, "e", ("at", trace_display(print, &at))); /* debug */
    trace_event(INFO, "e", ("e", trace_errno(2)), ("c", work(at.x))); /* gone */
    log_info("%Lf %p", l, (void *)&at);                               /* gone */
    return function(bytes[1]);
}

void recording(void)
{
    trace_counter("depth", spans(trace_span_current())); /* kept */
    trace_counter("load", .5);                           /* kept */
    trace_signpost("phase", "%d of %s", work(1), "two"); /* kept */
    trace_stack_restore(trace_stack_save());             /* kept */
    trace_disable();                                     /* kept */
    trace_enable();                                      /* kept */
    if (trace_start("dir", "limit=1M"))                  /* kept */
        log_error("not started");                        /* kept */
    (void)trace_start("dir", NULL);                      /* kept */
    (void)trace_stop();                                  /* kept */
    trace_zones_follow(0, 0);                            /* kept */
    trace_zones_close(0);                                /* kept */
    (void)trace_zones_read(0, 0);                        /* kept */
    (void)trace_zones_open(0, 64, 0, 1);                 /* kept */
}

void bridge(const char *file, int line, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    log_bridge(TRACE_LEVEL_INFO, NULL, file, line, format, args); /* gone */
    log_bridge(work(line), "t", file, line, format, args);        /* gone */
    log_bridge_text(work(line), "t", file, line, format);         /* gone */
    va_end(args);
}
