/* soak_death_test.c: processes that die at any instant keep what they recorded.
 * `make soak` kills more of them; SOAK_SEED repeats a run.
 */
#include "tests/support/support.h" /* defines TRACING */

#include "tests/programs/dying.h"
#include "tests/support/e2e.h"

#include "trace/chrome/chrome.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    test_folder();
}

TestSuite(soak_death, .init = begin, .timeout = 1800);

static bool soaking(void)
{
    return getenv("SOAK") != NULL;
}

static uint64_t seed(void)
{
    const char *text = getenv("SOAK_SEED");

    return text && *text ? strtoull(text, NULL, 10) : 1;
}

/* ---- What a recording must contain ---- */

/* The steps that a recording contains. */
struct found {
    const struct dying_page *page;
    uint64_t *steps[DYING_THREADS], most[DYING_THREADS];
};

enum { EVENT = 1, SPAN = 2, EXIT = 4, WHOLE = EVENT | SPAN | EXIT };

static bool number_of(const struct trace_entry *entry, uint64_t *thread,
                      uint64_t *n)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value a, b;

    if (!trace_values_next(&values, &a) || !trace_values_next(&values, &b))
        return false;
    *thread = a.as.u;
    *n = b.as.u;
    return true;
}

static void note(struct found *found, const struct trace_entry *entry)
{
    bool is_event = entry->kind == TRACE_ENTRY_EVENT &&
                    !strcmp(entry->site->name, "committed");
    bool is_span = entry->kind == TRACE_ENTRY_SPAN;
    uint64_t thread, n;

    if (!(is_event || is_span) || !number_of(entry, &thread, &n))
        return;
    cr_assert_lt(thread, DYING_THREADS);
    /* Besides the finished steps, only the one in progress may be there. */
    cr_assert_leq(n, found->most[thread], "thread %d: %d of %d", (int)thread,
                  (int)n, (int)found->most[thread]);
    found->steps[thread][n] |= is_event                   ? EVENT
                               : entry->end == UINT64_MAX ? SPAN
                                                          : SPAN | EXIT;
}

/* Every finished step is there, or counted as dropped. */
static void expect_steps(struct found *found, uint64_t dropped,
                         const char *what)
{
    uint64_t missing = 0;

    for (int i = 0; i < DYING_THREADS; i++)
        for (uint64_t n = 0; n < found->most[i]; n++)
            missing += found->steps[i][n] != WHOLE;
    cr_expect_leq(missing, dropped, "%s: %llu steps are missing, %llu dropped",
                  what, (unsigned long long)missing,
                  (unsigned long long)dropped);
}

static void expect_recorded(struct trace_reader *reader,
                            const struct dying_page *page, const char *what)
{
    struct found found = {.page = page};
    struct trace_entry entry;

    for (int i = 0; i < DYING_THREADS; i++) {
        found.most[i] = page->steps[i];
        found.steps[i] = calloc(found.most[i] + 1, sizeof(*found.steps[i]));
    }
    while (trace_reader_next(reader, &entry))
        note(&found, &entry);
    expect_steps(&found, trace_reader_summary(reader).dropped, what);
    for (int i = 0; i < DYING_THREADS; i++)
        free(found.steps[i]);
}

static void expect_json(const char *text, const char *what)
{
    cJSON *json = cJSON_Parse(text);

    cr_expect(cJSON_IsArray(cJSON_GetObjectItem(json, "traceEvents")),
              "%s: no trace: %.200s", what, text);
    cJSON_Delete(json);
}

/* ---- Plain recorders ---- */

static struct dying_page *shared_pages(size_t count)
{
    struct dying_page *pages =
        mmap(NULL, count * sizeof(*pages), PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    cr_assert_neq(pages, MAP_FAILED);
    return pages;
}

static void record_and_die(struct dying_page *page, struct dying_plan plan)
{
    struct trace_options options = {.limit = UINT64_C(64) << 20};
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (!child) {
        if (plan.chance >> 48 & 1) /* so that it fills up */
            options.limit = TRACE_LIMIT_LEAST;
        if (trace_open(test_path("recording"), &options))
            _exit(8);
        dying_run(page, plan);
    }

    int status = 0;

    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(!WIFEXITED(status) || WEXITSTATUS(status) < 8, "exit code %d",
              WEXITSTATUS(status));
}

static void expect_trace(struct trace_reader *reader, const char *what)
{
    struct trace_chrome chrome;
    char *text = NULL;
    size_t size;
    FILE *stream = open_memstream(&text, &size);

    cr_assert_not_null(stream);
    trace_chrome_begin(&chrome, stream);
    trace_chrome_add(&chrome, reader, 1, "dead");
    trace_chrome_end(&chrome, NULL);
    fclose(stream);
    expect_json(text, what);
    free(text);
}

Test(soak_death, recorders_that_die_lose_no_record)
{
    unsigned deaths = soaking() ? 1200 : 60;

    for (unsigned i = 0; i < deaths; i++) {
        struct dying_page *page = shared_pages(1);
        struct dying_plan plan = dying_plan(seed() + 1, i);
        struct trace_reader *reader;
        char what[64];

        snprintf(what, sizeof(what), "SOAK_SEED=%llu, death %u",
                 (unsigned long long)seed(), i);
        record_and_die(page, plan);
        reader = trace_reader_open(test_path("recording"));
        cr_assert_not_null(reader, "%s: %s", what, strerror(errno));
        expect_recorded(reader, page, what);
        expect_trace(reader, what);
        trace_reader_close(reader);
        unlink(test_path("recording"));
        munmap(page, sizeof(*page));
    }
}

/* ---- Test programs ---- */

static struct dying_page *page_file(const char *path, size_t count)
{
    size_t size = count * sizeof(struct dying_page);
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    void *pages;

    cr_assert(fd >= 0 && !ftruncate(fd, (off_t)size));
    pages = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    close(fd);
    cr_assert_neq(pages, MAP_FAILED);
    return pages;
}

static void expect_files(const char *name, const struct dying_page *page,
                         const char *what)
{
    char folder[PATH_MAX], path[PATH_MAX + 16], *json;
    struct trace_reader *reader;

    snprintf(folder, sizeof(folder),
             "testlog-runs/latest/tests/dying_test/dying.%s",
             strchr(name, '/') + 1);
    snprintf(path, sizeof(path), "%s/recording", folder);
    reader = trace_reader_open(path);
    cr_assert_not_null(reader, "%s: %s: %s", what, path, strerror(errno));
    expect_recorded(reader, page, what);
    trace_reader_close(reader);
    snprintf(path, sizeof(path), "%s/trace.json", folder);
    json = test_load(path, NULL);
    expect_json(json, what);
}

static void expect_death(const cJSON *test, uint64_t seeds, unsigned number,
                         const struct dying_page *page)
{
    static const char *const ways[][2] = {
#define TEST_X(way, outcome, reason) {outcome, reason},
        DYING_WAYS(TEST_X)
#undef TEST_X
    };
    struct dying_plan plan = dying_plan(seeds, number);
    char what[128];

    snprintf(what, sizeof(what), "SOAK_SEED=%llu: %s",
             (unsigned long long)seed(), e2e_text(test, "name"));
    cr_expect_str_eq(e2e_text(test, "outcome"), ways[plan.way][0], "%s: %s, %s",
                     what, e2e_text(test, "outcome"), e2e_text(test, "reason"));
    cr_expect(strstr(e2e_text(test, "reason"), ways[plan.way][1]), "%s: %s",
              what, e2e_text(test, "reason"));
    expect_files(e2e_text(test, "name"), page, what);
}

/* Runs `count` tests, all of which die. */
static void expect_run(uint64_t seeds, unsigned count)
{
    const char *program = e2e_program("dying", E2E_TRACED);
    struct dying_page *pages = page_file("pages", count);
    const cJSON *run, *test;
    unsigned number = 0;

    e2e_exits(1,
              "DYING_SEED=%llu DYING_COUNT=%u DYING_PAGES=\"$PWD/pages\" "
              "LOG=off %s -q -j3",
              (unsigned long long)seeds, count, program);
    run = e2e_run_json();
    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(run, "tests"))
    {
        expect_death(test, seeds, number, &pages[number]);
        number++;
    }
    cr_expect_eq(number, count);
    munmap(pages, count * sizeof(*pages));
    test_remove_tree("testlog-runs");
}

Test(soak_death, tests_that_die_lose_no_record)
{
    for (unsigned batch = 0; batch < (soaking() ? 20 : 1); batch++)
        expect_run(seed() * 100 + batch, soaking() ? 50 : 44);
}
