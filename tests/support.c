/* support.c: what the unit tests share. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A folder ---- */

static char folder[PATH_MAX];
static pid_t folder_owner;

static int remove_one(const char *path, const struct stat *status, int kind,
                      struct FTW *at)
{
    (void)status;
    (void)kind;
    (void)at;
    return remove(path);
}

static void remove_folder(void)
{
    if (folder_owner == getpid())
        nftw(folder, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

void test_folder(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof(folder), "%s/testlog-unit-XXXXXX",
             base && *base ? base : "/tmp");
    cr_assert_not_null(mkdtemp(folder), "%s: %s", folder, strerror(errno));
    folder_owner = getpid();
    atexit(remove_folder);
}

const char *test_path(const char *name)
{
    static char paths[8][PATH_MAX + 256];
    static unsigned next;
    char *path = paths[next++ % 8];

    snprintf(path, sizeof(paths[0]), "%s/%s", folder, name);
    return path;
}

char *test_load(const char *path, size_t *size)
{
    struct trace_text text = {0};
    FILE *file = fopen(path, "re");
    char piece[4096];
    size_t read;

    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    while ((read = fread(piece, 1, sizeof(piece), file)) > 0)
        trace_text_add(&text, piece, read);
    fclose(file);
    if (!text.data)
        text.data = calloc(1, 1);
    cr_assert(text.data && !text.failed);
    if (size)
        *size = text.size;
    return text.data;
}

void test_save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "we");

    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    cr_assert_eq(fwrite(data, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

/* ---- Recordings ---- */

void test_record_limit(uint64_t limit)
{
    struct trace_options options = {.limit = limit};

    unlink(test_path("recording"));
    cr_assert_eq(trace_open(test_path("recording"), &options), 0, "%s",
                 strerror(errno));
}

void test_record(void)
{
    test_record_limit(TRACE_LIMIT_LEAST * 64);
}

struct trace_reader *test_read(void)
{
    trace_close();

    struct trace_reader *reader = trace_reader_open(test_path("recording"));

    cr_assert_not_null(reader, "%s", strerror(errno));
    return reader;
}

/* The name of what an entry is about. */
static const char *name_of(const struct trace_reader *reader,
                           const struct trace_entry *entry)
{
    struct trace_entry span;

    if (entry->kind == TRACE_ENTRY_SPAN || entry->kind == TRACE_ENTRY_EVENT)
        return entry->site->name;
    return trace_reader_span(reader, entry->span, &span) ? span.site->name : "";
}

static bool next_called(struct trace_reader *reader, enum trace_entry_kind kind,
                        const char *name, struct trace_entry *entry)
{
    while (trace_reader_next(reader, entry))
        if (entry->kind == kind &&
            (!name || !strcmp(name_of(reader, entry), name)))
            return true;
    return false;
}

bool test_find(struct trace_reader *reader, enum trace_entry_kind kind,
               const char *name, struct trace_entry *entry)
{
    cr_assert_eq(trace_reader_rewind(reader), 0);
    return next_called(reader, kind, name, entry);
}

size_t test_count(struct trace_reader *reader, enum trace_entry_kind kind,
                  const char *name)
{
    struct trace_entry entry;
    size_t count = 0;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (next_called(reader, kind, name, &entry))
        count++;
    return count;
}

char *test_lines(struct trace_reader *reader, const char *text,
                 const struct log_style *style)
{
    struct log_filter *filter = log_filter_parse(text, "trace", "LOG", NULL);
    char *lines = NULL;
    size_t size;
    FILE *stream = open_memstream(&lines, &size);

    cr_assert(filter && stream);
    log_write_all(filter, style, reader, stream);
    fclose(stream);
    log_filter_free(filter);
    return lines;
}

char *test_plain(struct trace_reader *reader)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    return test_lines(reader, "trace", &style);
}

static void walk_fields(const struct trace_reader *reader,
                        const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_text json = {.ceiling = 1 << 16};
    struct trace_value value;
    struct trace_entry late;
    size_t cursor = 0;

    while (trace_values_next(&values, &value))
        trace_json_value(&json, &value);
    while (trace_reader_late(reader, entry->id, entry->time, &cursor, &late))
        cr_assert_eq(late.kind, TRACE_ENTRY_FIELDS);
    trace_text_free(&json);
}

static void walk_export(struct trace_reader *reader)
{
    static const struct log_style style = {.time = LOG_TIME_UPTIME};
    FILE *null = fopen("/dev/null", "we");
    struct trace_chrome chrome;

    free(test_lines(reader, "trace", &style));
    cr_assert_not_null(null);
    trace_chrome_begin(&chrome, null);
    trace_chrome_add(&chrome, reader, 1, "walk");
    trace_chrome_end(&chrome, NULL);
    fclose(null);
}

size_t test_walk(struct trace_reader *reader)
{
    struct trace_entry entry;
    uint64_t last = 0;
    size_t count = 0;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry)) {
        cr_assert_geq(entry.time, last);
        cr_assert_not_null(entry.site);
        cr_assert_not_null(entry.thread);
        last = entry.time;
        count++;
        walk_fields(reader, &entry);
    }
    trace_reader_summary(reader);
    trace_reader_meta(reader, "name");
    walk_export(reader);
    return count;
}

/* ---- Chance ---- */

static uint64_t chance = 88172645463325252;

void test_seed(uint64_t seed)
{
    chance = seed * UINT64_C(0x9e3779b97f4a7c15) | 1;
}

uint32_t test_random(void)
{
    chance ^= chance << 13;
    chance ^= chance >> 7;
    chance ^= chance << 17;
    return (uint32_t)(chance >> 16);
}

uint32_t test_below(uint32_t limit)
{
    return test_random() % limit;
}

void test_random_bytes(void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++)
        ((unsigned char *)bytes)[i] = (unsigned char)test_random();
}

/* ---- Children ---- */

int test_child(void (*body)(void))
{
    int status = -1;
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (!child) {
        body();
        _exit(0);
    }
    cr_assert_eq(waitpid(child, &status, 0), child);
    return status;
}

/* ---- Failing allocations ---- */

#if defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define OWNED_MEMORY 1
#    endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#    define OWNED_MEMORY 1
#endif

static __thread size_t asked, failing;
static __thread bool failing_once;

size_t test_fail_memory(size_t nth, bool once)
{
    size_t before = asked;

    asked = 0;
    failing = nth;
    failing_once = once;
    return before;
}

bool test_can_fail_memory(void)
{
#ifdef OWNED_MEMORY
    return false;
#else
    return true;
#endif
}

#ifndef OWNED_MEMORY
extern void *__libc_malloc(size_t);
extern void *__libc_calloc(size_t, size_t);
extern void *__libc_realloc(void *, size_t);

static bool fails(void)
{
    asked++;
    if (!failing || (failing_once ? asked != failing : asked < failing))
        return false;
    errno = ENOMEM;
    return true;
}

void *malloc(size_t size)
{
    return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t count, size_t size)
{
    return fails() ? NULL : __libc_calloc(count, size);
}

void *realloc(void *old, size_t size)
{
    return fails() ? NULL : __libc_realloc(old, size);
}
#endif

/* ---- Recorded cases ---- */

void test_cases_open(struct test_cases *cases, const char *name)
{
    char path[PATH_MAX];

    *cases = (struct test_cases){0};
    snprintf(path, sizeof(path), "%s/cases/%s", TESTS_DIR, name);
    cases->file = fopen(path, "re");
    cr_assert_not_null(cases->file, "%s: %s", path, strerror(errno));
}

static void split(struct test_cases *cases)
{
    char *at = cases->line;
    char *end = at + strlen(at);

    if (end > at && end[-1] == '\n')
        *--end = '\0';
    for (size_t i = 0; i < TEST_COLUMNS; i++) {
        cases->columns[i] = at;
        at = strchrnul(at, '\t');
        if (*at)
            *at++ = '\0';
    }
}

bool test_cases_next(struct test_cases *cases)
{
    while (getline(&cases->line, &cases->room, cases->file) >= 0) {
        if (cases->line[0] == '\n' || !strncmp(cases->line, "##", 2))
            continue;
        split(cases);
        return true;
    }
    fclose(cases->file);
    free(cases->line);
    return false;
}

unsigned test_level(const char *word)
{
    for (unsigned level = 0; level <= TRACE_LEVEL_TRACE; level++)
        if (!strcasecmp(word, trace_level_word(level)))
            return level;
    cr_assert_fail("no level: %s", word);
    return 0;
}
