/* known_failures.c: reads the sections of testlog.conf about tests that may
 * fail.
 *
 *  [test net/x*]
 *  expect = fail
 *  reason = the server is gone
 *  until = 2026-12-31
 *  strict = 1
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "harness/machine/notice.h"
#include "harness/options/known_failures.h"
#include "harness/options/options.h"
#include "harness/session.h"
#include "trace/base/containers.h"

static const char *const keys[TEST_LOG_KNOWN_KEYS] = {"expect", "reason",
                                                      "until", "strict"};

bool test_log_known_key(const char *key)
{
    for (size_t i = 0; i < TEST_LOG_KNOWN_KEYS; i++)
        if (!strcmp(key, keys[i]))
            return true;
    return false;
}

size_t test_log_known_keys(const char *names[TEST_LOG_KNOWN_KEYS])
{
    memcpy(names, keys, sizeof(keys));
    return TEST_LOG_KNOWN_KEYS;
}

/* ---- Values ---- */

static int read_expected(struct test_log_known_failure *known,
                         const struct test_log_settings_line *line)
{
    static const char *const words[] = {
#define TEST_LOG_X(name, word) word,
        TEST_LOG_EXPECTED(TEST_LOG_X)
#undef TEST_LOG_X
            NULL};
    unsigned choice = 0;

    if (test_log_read_word(line->origin, line->value, words, &choice))
        return -1;
    known->expected = (enum test_log_expected)choice;
    known->given = true;
    return 0;
}

/* "2026-02-30" becomes another day. */
bool test_log_is_day(const char *text)
{
    struct tm day = {0}, same;
    char again[16];
    const char *end = strptime(text, "%Y-%m-%d", &day);

    if (!end || *end || strlen(text) != 10)
        return false;
    same = day;
    timegm(&same);
    strftime(again, sizeof(again), "%Y-%m-%d", &same);
    return !strcmp(again, text);
}

/* Days compare as texts. */
static bool is_over(const char *until)
{
    time_t now = time(NULL);
    struct tm today;
    char text[16];

    gmtime_r(&now, &today);
    strftime(text, sizeof(text), "%Y-%m-%d", &today);
    return strcmp(text, until) > 0;
}

static int read_until(struct test_log_known_failure *known,
                      const struct test_log_settings_line *line)
{
    if (!test_log_is_day(line->value)) {
        test_log_notice("%s: \"%s\" is not a day; write one such as "
                        "2026-12-31",
                        line->origin, line->value);
        return -1;
    }
    known->until = line->value;
    known->expired = is_over(line->value);
    return 0;
}

static int read_value(struct test_log_known_failure *known,
                      const struct test_log_settings_line *line)
{
    if (!strcmp(line->key, "expect"))
        return read_expected(known, line);
    if (!strcmp(line->key, "until"))
        return read_until(known, line);
    if (!strcmp(line->key, "strict"))
        return test_log_read_switch(line->origin, line->value, &known->strict);
    known->reason = line->value;
    return 0;
}

/* ---- Sections ---- */

/* Each section has a pattern of its own. */
static struct test_log_known_failure *section_of(
    struct test_log_known_failures *known,
    const struct test_log_settings_line *line)
{
    struct test_log_known_failure *last =
        known->count ? &known->all[known->count - 1] : NULL;

    if (last && last->pattern == line->pattern)
        return last;
    if (!TRACE_ARRAY_RESERVE(known->all, known->capacity, known->count + 1)) {
        test_log_notice("out of memory");
        return NULL;
    }
    known->all[known->count] = (struct test_log_known_failure){
        .pattern = line->pattern,
        .profile = line->profile,
        .origin = line->origin,
    };
    return &known->all[known->count++];
}

int test_log_known_read(struct test_log_known_failures *known,
                        const struct test_log_settings *settings,
                        const char *profile, bool quiet)
{
    static const char *const effects[] = {
        "its failures fail the run again",
        "its failures fail the run again",
        "it runs again",
    };
    size_t kept = 0;

    for (size_t i = 0; i < settings->count; i++) {
        const struct test_log_settings_line *line = &settings->lines[i];
        struct test_log_known_failure *section;

        if (!line->pattern || !test_log_known_key(line->key))
            continue;
        section = section_of(known, line);
        if (!section || read_value(section, line))
            return -1;
    }
    for (size_t i = 0; i < known->count; i++) {
        const struct test_log_known_failure *one = &known->all[i];

        if (!one->given || !one->reason) {
            test_log_notice("%s: [test %s] needs %s", one->origin, one->pattern,
                            one->given ? "a reason; add reason = TEXT"
                                       : "expect = fail, flaky or skip");
            return -1;
        }
        if (one->profile && (!profile || strcmp(one->profile, profile) != 0))
            continue;
        if (!quiet && one->expired)
            test_log_notice("%s: [test %s] ended on %s: %s", one->origin,
                            one->pattern, one->until, effects[one->expected]);
        known->all[kept++] = *one;
    }
    known->count = kept;
    return 0;
}

/* A later section beats earlier ones, one of a profile beats those of none. */
const struct test_log_known_failure *test_log_known_of(
    const struct test_log_known_failures *known, const char *suite,
    const char *test)
{
    const struct test_log_known_failure *found = NULL;
    char base[1024]; /* all repetitions may fail */

    snprintf(base, sizeof(base), "%.*s", (int)test_log_base_size(test), test);
    for (size_t i = 0; i < known->count; i++) {
        const struct test_log_known_failure *one = &known->all[i];

        if (!one->expired &&
            (test_log_pattern_matches(one->pattern, suite, base) ||
             test_log_pattern_matches(one->pattern, suite, test)) &&
            (!found || !found->profile || one->profile))
            found = one;
    }
    return found;
}

/* ---- Judging ---- */

#define ALTHOUGH "passed, although it is a known failure: "

static bool is_judged(const struct test_log_result *result)
{
    return result->known ||
           (result->outcome == TEST_LOG_OUTCOME_FAILED && result->reason &&
            !strncmp(result->reason, ALTHOUGH, strlen(ALTHOUGH)));
}

void test_log_known_judge(const struct test_log_known_failure *known,
                          const char *declared, struct test_log_result *result)
{
    const char *reason = declared ? declared : known ? known->reason : NULL;
    bool passed = result->outcome == TEST_LOG_OUTCOME_PASSED;

    if (!reason || result->outcome == TEST_LOG_OUTCOME_SKIPPED ||
        is_judged(result) ||
        (passed && !declared && known->expected != TEST_LOG_EXPECT_FAIL))
        return;
    if (!passed || !known || !known->strict) {
        result->known = strdup(reason);
        return;
    }
    result->outcome = TEST_LOG_OUTCOME_FAILED;
    free(result->reason);
    if (asprintf(&result->reason, ALTHOUGH "%s", reason) < 0)
        result->reason = NULL;
}
