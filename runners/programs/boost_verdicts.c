/* boost_verdicts.c: which tests of Boost.Test have failed as expected. Its
 * report in the form of JUnit calls all of them failed; its own report has
 *
 *  <TestResult><TestSuite name="program"><TestSuite name="suite">
 *  <TestCase name="test" result="passed" expected_failures="1"/>
 */
#include <stdlib.h>
#include <string.h>

#include "frameworks.h"
#include "markup.h"

enum { NAME_MOST = 4096, DEPTH_MOST = 100 };

struct verdicts {
    struct test_log_run *run;
    const char *program;
    size_t next;              /* the result that probably is the next one's */
    size_t depth;             /* of suites; the outermost is the program */
    char suite[NAME_MOST];    /* "outer.inner" */
    size_t sizes[DEPTH_MOST]; /* of the names of those around it */
};

/* The form of JUnit has _ in place of some signs. */
static bool is_same_name(const char *ours, const char *theirs)
{
    for (; *ours && *theirs; ours++, theirs++)
        if (*ours != *theirs && (*ours != '_' || !strchr(" :", *theirs)))
            return false;
    return *ours == *theirs;
}

/* Both reports have the tests in one order, but not all of them. */
static struct test_log_result *find(struct verdicts *verdicts, const char *name)
{
    const char *suite =
        verdicts->suite[0] ? verdicts->suite : verdicts->program;
    size_t count = verdicts->run->count;

    for (size_t i = 0; i < count; i++) {
        size_t at = (verdicts->next + i) % count;
        struct test_log_result *result = &verdicts->run->results[at];

        if (result->test && result->suite && is_same_name(result->test, name) &&
            is_same_name(result->suite, suite)) {
            verdicts->next = at + 1;
            return result;
        }
    }
    return NULL;
}

static void judge(struct verdicts *verdicts, const char **attributes)
{
    const char *verdict = runners_markup_attribute(attributes, "result");
    const char *name = runners_markup_attribute(attributes, "name");
    struct test_log_result *result = name ? find(verdicts, name) : NULL;

    if (!verdict || !result || result->outcome != TEST_LOG_OUTCOME_FAILED)
        return;
    if (!strcmp(verdict, "passed"))
        result->outcome = TEST_LOG_OUTCOME_PASSED;
    else if (!strcmp(verdict, "timed-out"))
        result->outcome = TEST_LOG_OUTCOME_TIMEOUT;
}

static void begin_suite(struct verdicts *verdicts, const char *name)
{
    size_t size = strlen(verdicts->suite);

    if (verdicts->depth < DEPTH_MOST)
        verdicts->sizes[verdicts->depth] = size;
    if (verdicts->depth++)
        snprintf(verdicts->suite + size, sizeof(verdicts->suite) - size, "%s%s",
                 size ? "." : "", name ? name : "");
}

static void begin_element(void *context, const char *name,
                          const char **attributes)
{
    if (!strcmp(name, "TestCase"))
        judge(context, attributes);
    else if (!strcmp(name, "TestSuite"))
        begin_suite(context, runners_markup_attribute(attributes, "name"));
}

static void end_element(void *context, const char *name)
{
    struct verdicts *verdicts = context;

    if (!strcmp(name, "TestSuite") && verdicts->depth &&
        --verdicts->depth < DEPTH_MOST)
        verdicts->suite[verdicts->sizes[verdicts->depth]] = '\0';
}

void runners_framework_correct(struct test_log_run *run, FILE *in,
                               const char *program)
{
    struct verdicts verdicts = {.run = run, .program = program};

    runners_markup_read(&(struct markup){.context = &verdicts,
                                         .begin = begin_element,
                                         .end = end_element},
                        in);
}
