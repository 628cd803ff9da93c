/* large.c: LARGE_TESTS tests, and one that records LARGE_EVENTS events. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>

enum { THREADS = 64, DEEP = 1000, LONG = 1000 * 1000 };

static size_t variable(const char *name)
{
    const char *text = getenv(name);

    return text ? strtoul(text, NULL, 10) : 1;
}

static int numbers[100000];

ParameterizedTestParameters(large, one_of_many)
{
    for (int i = 0; i < 100000; i++)
        numbers[i] = i;
    return cr_make_param_array(int, numbers, variable("LARGE_TESTS"));
}

PARAMETERIZED_TEST_LOG(int *number, large, one_of_many)
{
    log_info("test %d", *number);
    cr_expect_neq(*number, 7);
}

static void *records(void *unused)
{
    size_t events = variable("LARGE_EVENTS") / THREADS;

    (void)unused;
    trace_span(INFO, "thread");
    for (size_t i = 0; i < events / 2; i++) {
        trace_span(DEBUG, "step", ("i", i));
        log_debug("event %zu", i);
    }
    return NULL;
}

/* Opens nested spans. */
static void descend(int depth)
{
    trace_span(DEBUG, "deep", ("depth", depth));

    if (depth)
        descend(depth - 1);
    else
        log_info("at the bottom");
}

TEST_LOG(large, records_much)
{
    static char text[LONG + 1];
    pthread_t threads[THREADS];

    memset(text, 'x', LONG);
    trace_event(INFO, "long", (text));
    descend(DEEP);
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, records, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
}
