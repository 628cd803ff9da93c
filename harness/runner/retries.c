/* retries.c: gives failed tests another try. */
#include <stdlib.h>
#include <string.h>

#include "harness/watch.h"

bool test_log_retry_wanted(const struct test_log_options *options,
                           const struct test_log_result *result)
{
    return test_log_outcome_bad(result->outcome) && !result->ended &&
           result->earlier_count < options->retries;
}

int test_log_retry(struct test_log_result *result)
{
    struct test_log_try *grown =
        realloc(result->earlier,
                (result->earlier_count + 1) * sizeof(*result->earlier));

    if (!grown)
        return -1;
    grown[result->earlier_count++] =
        (struct test_log_try){.outcome = result->outcome,
                              .reason = result->reason,
                              .folder = result->folder,
                              .duration = result->duration};
    result->earlier = grown;
    result->outcome = result->told = TEST_LOG_OUTCOME_NONE;
    result->reason = NULL;
    result->folder = NULL;
    result->duration = result->started = 0;
    result->pid = 0;
    result->paused = 0;
    result->unborn = result->begun = false;
    result->note = 0;
    result->running = result->body_done = result->shown = false;
    result->killed = result->noted = false;
    result->late = result->gone = 0;
    free(result->survivors);
    result->survivors = NULL;
    return 0;
}
