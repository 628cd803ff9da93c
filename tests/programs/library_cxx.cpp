// library_cxx.cpp: every macro, in all kinds of C++ code. The marks have the
// same meaning as in library.c.
#include <cstdarg>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include <testlog/log.h>

namespace library
{

constexpr int cube(int x)
{
    return x * x * x;
}

inline int only_here(int x) /* gone */
{                           /* gone */
    return cube(x);         /* gone */
} /* gone */

template <typename T> T shown(T value) noexcept /* gone */
{                                               /* gone */
    return value;                               /* gone */
} /* gone */

inline int half(int x)
{
    trace_function(DEBUG, (x));         /* debug */
    log_trace("%d", cube(x));           /* debug */
    log_warn("%d / 2", only_here(x));   /* gone */
    trace_event(WARN, "w", (shown(x))); /* gone */
    return x / 2;
}

template <typename T, int N = 2> T times(T value)
{
    trace_function(INFO, (value), ("n", N));                  /* gone */
    trace_span(TRACE, "in", (value));                         /* debug */
    log_debug("%d", N);                                       /* debug */
    log_at(INFO, "%d", cube(N));                              /* gone */
    trace_event(INFO, "t", ("v", shown<T>(value)));           /* gone */
    trace_event(DEBUG, "t", ("of", sizeof(std::pair<T, T>))); /* debug */
    return value + value;
}

template <typename T> class shelf
{
  public:
    explicit shelf(T first) : value(std::move(first))
    {
        trace_function(DEBUG, ("value", value)); /* debug */
        log_info("made");                        /* gone */
    }
    ~shelf()
    {
        trace_event(INFO, "gone", ("value", value));  /* gone */
        trace_event(TRACE, "gone", ("value", value)); /* debug */
    }
    const T &get() const noexcept
    {
        trace_span(TRACE, "get", ("this", this)); /* debug */
        log_error("%p", (const void *)this);      /* gone */
        return value;
    }
    template <typename U> bool same(const U &other) const
    {
        trace_function(WARN, ("same", value == other)); /* gone */
        log_trace("%d", value == other);                /* debug */
        return value == other;
    }
    static int count(int n)
    {
        for (int i = 0; i < n; i++) {
            trace_span(INFO, "round", (i)); /* gone */
            log_debug("%d", i);             /* debug */
        }
        return n;
    }

  private:
    T value;
};

int lambdas(int x);
int lambdas(int x)
{
    auto capturing = [&x](int y) {
        trace_function(INFO, (x), (y)); /* gone */
        trace_span(DEBUG, "in", (x));   /* debug */
        log_info("%d %d", x, y);        /* gone */
        return x += y;
    };
    auto generic = [copy = x](auto value) mutable {
        trace_span(ERROR, "generic", (value), (copy)); /* gone */
        trace_event(TRACE, "e", (value));              /* debug */
        log_trace("%d", copy);                         /* debug */
        return copy += static_cast<int>(value);
    };

    trace_event(WARN, "lambda", ("v", [] { return 7; }()));      /* gone */
    trace_event(DEBUG, "lambda", ("v", [&x] { return ++x; }())); /* debug */
#ifdef __OPTIMIZE__ /* instantiations for arguments stay at -O0 */
    log_info("%d", [](auto y) { return y + 1; }(x));     /* gone */
    log_debug("%zu", std::map<int, int>{{1, x}}.size()); /* debug */
#endif
    return capturing(1) + generic(2.5) + generic(x);
}

int strings(const std::string &name);
int strings(const std::string &name)
{
    const std::map<std::string, int> ages = {{name, 1}};

    trace_span(INFO, "s", (name), ("view", std::string_view(name))); /* gone */
    trace_span(TRACE, "s", ("made", name + "!"));                    /* debug */
    log_info("%s of %zu", (name + "?").c_str(), name.size());        /* gone */
    log_debug("%s", std::string(3, 'x').c_str());                    /* debug */
    for (const auto &[key, age] : ages) {
        trace_function(WARN, ("key", key)); /* gone */
        log_trace("%s", key.c_str());       /* debug */
    }
    try {
        trace_span(DEBUG, "try"); /* debug */
        return ages.at(name + name);
    } catch (...) {
        log_error("no %s", name.c_str()); /* gone */
    }
    return 0;
}

int spans(trace_span_ref span);
int spans(trace_span_ref span)
{
    trace_span_in(span, INFO, "in", ("of", span.place));   /* gone */
    trace_span_in(trace_span_current(), TRACE, "in");      /* debug */
    trace_span_enter(span);                                /* kept */
    trace_span_enter(trace_span_new(INFO, "new"));         /* kept */
    trace_record(span, ("status", 200));                   /* kept */
    trace_record(trace_span_current(), ("s", "text"));     /* kept */
    trace_span_end(span);                                  /* kept */
    trace_counter("place", span.place);                    /* kept */
    trace_record(span, ("nothing", nullptr));              /* kept */
    trace_signpost("phase", "%u", span.place);             /* kept */
    trace_span_end(trace_span_begin(INFO, "b", ("s", 1))); /* kept */
    trace_stack_restore(trace_stack_save());               /* kept */
    trace_disable();                                       /* kept */
    trace_enable();                                        /* kept */
    if (trace_start("dir", nullptr))                       /* kept */
        log_error("not started");                          /* kept */
    (void)trace_stop();                                    /* kept */
    if (log_enabled(INFO))                                 /* gone */
        log_info("%d", cube(2));                           /* gone */
    if (log_enabled(TRACE))                                /* debug */
        log_trace("%d", cube(2));                          /* debug */
#ifdef __OPTIMIZE__ /* a value that is used stays at -O0 */
    span = trace_span_begin(WARN, "b", ("s", trace_empty())); /* gone */
    span = trace_span_new(TRACE, "b");                        /* debug */
#endif
    return 0;
}

void bridge(const std::string &file, const char *format, va_list args);
void bridge(const std::string &file, const char *format, va_list args)
{
    log_bridge(TRACE_LEVEL_WARN, "t", file.c_str(), 1, format, args); /* gone */
    log_bridge_text(TRACE_LEVEL_WARN, "t", file.c_str(), 1, format);  /* gone */
}

int all(int x);
int all(int x)
{
    shelf<std::string> one("one");
    shelf<int> two(2);

    return half(x) + times(x) + static_cast<int>(times<double, 3>(x)) +
           one.same("one") + two.same(2L) + two.get() + shelf<char>::count(x);
}

} // namespace library
