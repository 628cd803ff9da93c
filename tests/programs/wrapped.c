/* wrapped.c: every annotation in Criterion's assertions, and in macros that
 * pass it on. */
#include "wrapped.h"

#include <testlog/test_log.h>

#define ONE(statement) TWO(statement, 0)
#define TWO(statement, zero)                                                   \
    do {                                                                       \
        if (!zero)                                                             \
            statement;                                                         \
    } while (0)

#define EXPECT(expression) cr_expect_eq((expression, 1), 1, "%d", 1);
#define PASS(statement)    ONE(statement);

TEST_LOG(wrapped, in_criterion)
{
    int one = 1;

    EXPRESSIONS(EXPECT)
    EXPRESSIONS(PASS)
    BLOCKS(PASS)
    cr_assert(log_enabled(INFO) || true, "%d", 2);
    cr_expect(({
                  trace_span(INFO, "span", ("a", 1), ("b", 2));
                  log_info("x %d", 1);
                  one == 1;
              }),
              "%d", 3);
    ONE(log_expect_event("wrapped", "{a}"));
    ONE(log_expect_span_count(3, "span"));
}
