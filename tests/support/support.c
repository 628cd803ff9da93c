/* support.c: helpers of the unit tests. */
#include "support.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <ftw.h>
#include <limits.h>
#include <locale.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "trace/format.h"

/* ---- Memory ---- */

void *test_keep(void *memory)
{
    enum { MOST = 1 << 18 };
    static void *kept[MOST];
    static size_t count;

    cr_assert(memory && count < MOST, "out of memory");
    return kept[count++] = memory;
}

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

void test_remove_tree(const char *path)
{
    nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static void remove_folder(void)
{
    if (folder_owner == getpid())
        test_remove_tree(folder);
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
    cr_assert_not(text.failed);
    if (size)
        *size = text.size;
    return test_keep(text.data);
}

void test_save(const char *path, const void *data, size_t size)
{
    FILE *file = fopen(path, "we");

    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    cr_assert_eq(fwrite(data, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
}

/* ---- Locales ---- */

bool test_decimal_comma(void)
{
    static const char *const names[] = {"de_DE.UTF-8", "de_DE", "fr_FR.UTF-8"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (setlocale(LC_ALL, names[i]))
            return true;
    setenv("LOCPATH", BUILD_DIR "/tests/locale", 1);
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL;
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

void test_begin(void)
{
    test_folder();
    test_record();
}

static struct trace_reader *readers[32]; /* the last that were opened */
static size_t reader_count;

static void close_readers(void)
{
    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++)
        trace_reader_close(readers[i]);
}

struct trace_reader *test_open(void)
{
    struct trace_reader **reader = &readers[reader_count % 32];

    if (!reader_count++)
        atexit(close_readers);
    trace_reader_close(*reader);
    *reader = trace_reader_open(test_path("recording"));
    cr_assert_not_null(*reader, "%s", strerror(errno));
    return *reader;
}

struct trace_reader *test_read(void)
{
    trace_close();
    return test_open();
}

/* Returns the name of the entry's span, event or activity. */
static const char *name_of(const struct trace_reader *reader,
                           const struct trace_entry *entry)
{
    struct trace_entry span;

    if (entry->kind == TRACE_ENTRY_SPAN || entry->kind == TRACE_ENTRY_EVENT ||
        entry->kind == TRACE_ENTRY_DEVICE)
        return entry->site->name;
    return trace_reader_span(reader, entry->span, &span) ? span.site->name : "";
}

static bool next_named(struct trace_reader *reader, enum trace_entry_kind kind,
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
    return next_named(reader, kind, name, entry);
}

size_t test_count(struct trace_reader *reader, enum trace_entry_kind kind,
                  const char *name)
{
    struct trace_entry entry;
    size_t count = 0;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (next_named(reader, kind, name, &entry))
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
    return test_keep(lines);
}

char *test_plain(struct trace_reader *reader)
{
    struct log_style style = {.time = LOG_TIME_NONE};

    return test_lines(reader, "trace", &style);
}

/* ---- A recording with every kind of entry ---- */

static void print_object(struct trace_text *out, const void *object)
{
    trace_text_string(out, object);
}

static void record_values(struct trace_span_ref span)
{
    static const char *const names[] = {"i", "u", "f",  "s", "b",
                                        "p", "o", "by", "e", "none"};
    static struct trace_site fields =
        TEST_SITE(FIELDS, TRACE, NULL, "rich", names, 10);
    const struct trace_value values[] = {
        trace_i64_(-1),
        trace_u64_(1),
        trace_f64_(0.5),
        trace_text_("text"),
        trace_bool(true),
        trace_pointer_(names),
        trace_display(print_object, "object"),
        trace_bytes("\x01\x02", 2),
        trace_errno(ENOENT),
        trace_empty(),
    };

    fields.id = 0;
    trace_record_(span, &fields, 10, values);
}

static void *rich_thread(void *parent)
{
    static struct trace_site span =
        TEST_SITE(SPAN, INFO, "work", "rich::t", NULL, 0);
    static struct trace_site event =
        TEST_SITE(EVENT, WARN, NULL, "rich::t", NULL, 0);
    const struct trace_span_ref *of = parent;

    span.id = event.id = 0;

    struct trace_span_ref entered = trace_span_enter_(*of);
    struct trace_span_ref inner = trace_span_open_(&span, 0, NULL);

    trace_log_(&event, "%d of %s, %.*s, %Lf", 1, "two", 2, "three", 4.0L);
    trace_span_leave_(inner);
    trace_span_leave_(entered);
    return NULL;
}

void test_rich(void)
{
    static const char *const names[] = {"a", "late"};
    static struct trace_site outer =
        TEST_SITE(SPAN, INFO, "outer", "rich", names, 2);
    static struct trace_site event =
        TEST_SITE(EVENT, DEBUG, "event", "rich", names, 1);
    const struct trace_value values[] = {trace_i64_(1), trace_empty()};

    outer.id = event.id = 0;

    struct trace_span_ref span = trace_span_begin_(&outer, 2, values);
    struct trace_span_ref other = trace_span_new_(&outer, 2, values);

    for (int i = 0; i < 5; i++)
        trace_event_(&event, 1, values);
    record_values(span);
    test_thread(rich_thread, &span);
    trace_span_end(span);
    trace_span_end(other);
    trace_span_begin_(&outer, 2, values);
}

/* ---- Device activities ---- */

struct trace_activity test_kernel(uint64_t begin, uint64_t end)
{
    static const char *const names[] = {"block", "registers"};
    static struct trace_value values[5];

    values[0] = trace_text_("(4, 64, 1)");
    values[1] = trace_u64_(7);
    values[2] = trace_text_("identity");
    values[3] = trace_text_("(256, 1, 1)");
    values[4] = trace_u64_(32);
    values[0].type = values[2].type = values[3].type = TRACE_TYPE_DISPLAY;
    return (struct trace_activity){
        .at = {.begin = begin,
               .thread = (uint32_t)syscall(SYS_gettid),
               .device = 1,
               .context = 2,
               .stream = 7,
               .correlation = 99,
               .kind = TRACE_ACTIVITY_KERNEL,
               .on_device = 1,
               .launched = 1},
        .end = end,
        .name = "identity",
        .symbol = "_Z8identityv",
        .fields = names,
        .field_count = 2,
        .values = values,
    };
}

__attribute__((noinline)) struct trace_span_ref test_block(
    size_t depth, struct trace_site *site, const struct trace_span_ref *span,
    size_t count, const struct trace_value *values)
{
    struct trace_span_ref begun;

    if (depth)
        begun = test_block(depth - 1, site, span, count, values);
    else if (!site)
        begun = trace_span_enter_(*span);
    else if (span)
        begun = trace_span_in_(*span, site, count, values);
    else
        begun = trace_span_open_(site, count, values);
    __asm__ volatile("" : : "r"(&begun) : "memory"); /* keeps the frame */
    return begun;
}

/* ---- Random numbers ---- */

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

void test_thread(void *(*body)(void *), void *context)
{
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, body, context), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

void test_reuse_id(uint32_t tid)
{
    struct trace_record *records;
    size_t size;

    trace_close();
    records = (void *)test_load(test_path("recording"), &size);
    for (size_t at = TRACE_FIRST_PLACE; at < size / sizeof(*records);) {
        if (records[at].kind == TRACE_KIND_THREAD &&
            (uint32_t)records[at].end != (uint32_t)getpid())
            records[at].end = records[at].end >> 32 << 32 | tid;
        at += records[at].slots ? records[at].slots
                                : TRACE_PIECE_SLOTS - at % TRACE_PIECE_SLOTS;
    }
    test_save(test_path("recording"), records, size);
}

void test_until_waits(pid_t thread)
{
    char path[64], state = 0;

    snprintf(path, sizeof(path), "/proc/self/task/%ld/stat", (long)thread);
    while (state != 'S') {
        char *text = test_load(path, NULL);

        state = strrchr(text, ')')[2];
    }
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
