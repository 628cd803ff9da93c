/* greet_test.cpp: annotated tests in C++17.
 *
 * An example of what C++ adds: fields may be std::string and similar types, an
 * exception ends the spans that it leaves, and call sites may be in lambdas and
 * templates.
 */
#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include <testlog/test_log.h>

namespace
{

std::string greet(const std::string &name)
{
    trace_function(DEBUG, (name));

    if (name.empty()) {
        log_error("nobody to greet");
        throw std::invalid_argument("empty name");
    }

    std::string greeting = "Hello, " + name + "!";

    trace_event(DEBUG, "greeted", (greeting), ("length", greeting.size()));
    return greeting;
}

template <typename T> T largest(const std::vector<T> &of)
{
    T found = *std::max_element(of.begin(), of.end());

    trace_event(INFO, "largest", (found), ("of", of.size()));
    return found;
}

} // namespace

TEST_LOG(greet, says_hello, .timeout = 5)
{
    cr_assert(greet("World") == "Hello, World!");
}

TEST_LOG(greet, ends_spans_when_an_exception_leaves_them)
{
    cr_assert_throw(greet(""), std::invalid_argument);
    log_info("outside of any span again");
}

TEST_LOG(greet, traces_inside_a_lambda)
{
    std::vector<std::string> names = {"Ada", "Brian", "Dennis"}, greetings;

    std::transform(names.begin(), names.end(), std::back_inserter(greetings),
                   [](const std::string &name) {
                       trace_span(INFO, "guest", (name));

                       return greet(name);
                   });
    cr_assert_eq(greetings.size(), names.size());
}

TEST_LOG_DEFAULT("trace", greet, finds_the_largest_of_any_type)
{
    cr_expect_eq(largest<int>({3, 1, 2}), 3);
    cr_expect(largest<std::string>({"ant", "cat", "bee"}) == "cat");
    cr_expect_eq(largest<double>({0.5, 0.25}), 0.5);
}
