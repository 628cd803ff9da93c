// annotated_cxx.cpp: every annotation. Lines marked "gone" leave no code.
#include <string>
#include <vector>

#include <testlog/test_log.h>

/* How often an argument of log_debug is evaluated. */
#if defined(TRACING) && !defined(LOG_STATIC_MAX)
enum { ONCE = 1 };
#else
enum { ONCE = 0 };
#endif

namespace
{

template <typename T> T twice(T value)
{
    trace_function(DEBUG, (value)); /* gone */
    return value + value;
}

class counter
{
  public:
    int next()
    {
        trace_span(TRACE, "next", ("count", count)); /* gone */
        return ++count;
    }

  private:
    int count = 0;
};

} // namespace

TEST_LOG(annotated, doubles)
{
    std::string name = "ab";
    std::vector<int> numbers = {1, 2, 3};
    counter counted;

    trace_span(INFO, "outer", (name), ("size", numbers.size())); /* gone */
    log_info("%s has %zu", name.c_str(), numbers.size());        /* gone */
    trace_event(WARN, "lambda", ("value", [] { return 7; }()));  /* gone */
    log_debug("%d", counted.next());                             /* gone */
    cr_assert(twice(name) == "abab");
    cr_assert(twice(2) == 4);
    cr_assert(counted.next() == ONCE + 1);
}

TEST_LOG(annotated, has_options, .timeout = 5)
{
    auto inner = [](int value) {
        trace_span(INFO, "in a lambda", (value)); /* gone */
        return value;
    };

    cr_assert(inner(1) == 1);
}

TEST_LOG_DEFAULT("info,kv=trace", annotated, has_a_default)
{
    cr_assert(true);
}

ParameterizedTestParameters(annotated, sizes)
{
    static int numbers[] = {1, 2, 3};

    return cr_make_param_array(int, numbers, 3);
}

PARAMETERIZED_TEST_LOG(int *number, annotated, sizes)
{
    log_info("size %d", *number); /* gone */
    cr_assert(*number > 0);
}
