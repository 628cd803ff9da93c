/* cppcheck.h: stands in for macros that cppcheck cannot parse or find. */
#define Test(s, n, ...)                 static void s##_##n(void)
#define Theory(parameters, s, n, ...)   static void s##_##n parameters
#define ParameterizedTest(p, s, n, ...) static void s##_##n(p)
#define TheoryDataPoints(s, n)          struct criterion_datapoints s##_##n[]
#define ParameterizedTestParameters(s, n)                                      \
    struct criterion_test_params s##_##n##_parameters(void)

#define TestSuite(...)
#define ReportHook(kind)              static void report_##kind
#define TEST_LOG                      Test
#define TEST_LOG_DEFAULT(filter, ...) Test(__VA_ARGS__)
#define PARAMETERIZED_TEST_LOG        ParameterizedTest
#define THEORY_LOG                    Theory

#define cJSON_ArrayForEach(item, array)                                        \
    for (item = array->child; item; item = item->next)

#define LOG_FORMATS(X) X(FULL, "full", log_full)
