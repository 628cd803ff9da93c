/* store.c: the store; an example of annotated code.
 *
 * It shows: a target (LOG_TARGET), functions as spans with their arguments, a
 * value that is known only at the end (store_get), a field of your own type
 * (print_entry), a span around a call that may block (lock), and errors with
 * their errno (fail). ERROR is for failures, INFO for users, DEBUG and TRACE
 * are for debugging.
 */
#define LOG_TARGET "kv::store" /* the default would be "examples::store" */

#include <errno.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/log.h>

#include "store.h"

struct entry {
    struct entry *chain;         /* next in the bucket */
    struct entry *newer, *older; /* neighbours in the order of use */
    char *key, *value;
};

struct store {
    pthread_mutex_t lock;
    size_t capacity, len;
    struct entry ring; /* ring.older is the newest, ring.newer the oldest */
    struct entry **buckets; /* `capacity` chains */
};

static void print_entry(struct trace_text *out, const void *object)
{
    const struct entry *entry = object;

    trace_text_printf(out, "%s -> %s", entry->key, entry->value);
}

static void lock(struct store *store)
{
    trace_span(TRACE, "wait for lock");

    pthread_mutex_lock(&store->lock);
}

static void unlock(struct store *store)
{
    pthread_mutex_unlock(&store->lock);
}

/* FNV-1a. */
static uint64_t hash(const char *text)
{
    uint64_t sum = UINT64_C(0xcbf29ce484222325);

    for (; *text; text++)
        sum = (sum ^ (unsigned char)*text) * UINT64_C(0x100000001b3);
    return sum;
}

/* Returns the pointer to the entry of `key`, or the place for a new one. */
static struct entry **find(struct store *store, const char *key)
{
    struct entry **at = &store->buckets[hash(key) % store->capacity];

    while (*at && strcmp((*at)->key, key))
        at = &(*at)->chain;
    return at;
}

static void attach_newest(struct store *store, struct entry *entry)
{
    entry->newer = &store->ring;
    entry->older = store->ring.older;
    entry->older->newer = entry;
    store->ring.older = entry;
}

static void detach(struct entry *entry)
{
    entry->newer->older = entry->older;
    entry->older->newer = entry->newer;
}

static void entry_free(struct entry *entry)
{
    free(entry->key);
    free(entry->value);
    free(entry);
}

static struct entry *entry_new(const char *key, const char *value)
{
    struct entry *entry = calloc(1, sizeof(*entry));

    if (!entry)
        return NULL;
    entry->key = strdup(key);
    entry->value = strdup(value);
    if (entry->key && entry->value)
        return entry;
    entry_free(entry);
    return NULL;
}

static void drop(struct store *store, struct entry **at)
{
    struct entry *entry = *at;

    *at = entry->chain;
    detach(entry);
    entry_free(entry);
    store->len--;
}

static void evict_oldest(struct store *store)
{
    struct entry *oldest = store->ring.newer;

    trace_event(DEBUG, "evicted", ("entry", trace_display(print_entry, oldest)),
                ("len", store->len));
    drop(store, find(store, oldest->key));
}

struct store *store_new(size_t capacity)
{
    trace_function(DEBUG, (capacity));

    struct store *store = calloc(1, sizeof(*store));
    struct entry **buckets = calloc(capacity, sizeof(*buckets));

    if (!store || !buckets) {
        log_error("no memory for %zu pairs: %m", capacity);
        free(store);
        free(buckets);
        return NULL; /* with calloc's errno: logging does not change it */
    }
    pthread_mutex_init(&store->lock, NULL);
    store->capacity = capacity;
    store->buckets = buckets;
    store->ring.newer = store->ring.older = &store->ring;
    return store;
}

void store_free(struct store *store)
{
    if (!store)
        return;
    trace_function(DEBUG, ("len", store->len));

    while (store->len)
        drop(store, find(store, store->ring.newer->key));
    pthread_mutex_destroy(&store->lock);
    free(store->buckets);
    free(store);
}

int store_put(struct store *store, const char *key, const char *value)
{
    trace_function(DEBUG, (key), (value));

    struct entry *entry = entry_new(key, value);

    if (!entry) {
        log_error("cannot keep %s: %m", key);
        return -1;
    }
    lock(store);
    if (*find(store, key))
        drop(store, find(store, key));
    else if (store->len == store->capacity)
        evict_oldest(store);
    *find(store, key) = entry;
    attach_newest(store, entry);
    store->len++;
    unlock(store);
    return 0;
}

char *store_get(struct store *store, const char *key)
{
    /* Not a block, so that `hit` can be recorded when it is known. */
    struct trace_span_ref span =
        trace_span_begin(DEBUG, "store_get", (key), ("hit", trace_empty()));
    char *copy = NULL;

    errno = ENOENT;
    lock(store);

    struct entry *entry = *find(store, key);
    bool hit = entry != NULL;

    if (hit) {
        detach(entry);
        attach_newest(store, entry);
        copy = strdup(entry->value);
    }
    unlock(store);
    trace_record(span, (hit));
    trace_span_end(span);
    return copy;
}

int store_delete(struct store *store, const char *key)
{
    trace_function(DEBUG, (key));

    lock(store);

    bool found = *find(store, key) != NULL;

    if (found)
        drop(store, find(store, key));
    unlock(store);
    if (found)
        return 0;
    log_debug("cannot delete %s: not found", key);
    errno = ENOENT;
    return -1;
}

size_t store_len(struct store *store)
{
    lock(store);

    size_t len = store->len;

    unlock(store);
    return len;
}

static int fail(const char *what)
{
    trace_event(ERROR, "snapshot failed", (what),
                ("error", trace_errno(errno)));
    return -1;
}

/* A snapshot is "store COUNT\n", then each key and value with its NUL. The
 * oldest pair comes first, so that loading restores the order of use. */
static void write_pairs(struct store *store, FILE *file)
{
    fprintf(file, "store %zu\n", store->len);
    for (struct entry *entry = store->ring.newer; entry != &store->ring;
         entry = entry->newer) {
        fwrite(entry->key, 1, strlen(entry->key) + 1, file);
        fwrite(entry->value, 1, strlen(entry->value) + 1, file);
    }
}

int store_save(struct store *store, const char *path)
{
    trace_function(INFO, (path));

    FILE *file = fopen(path, "w");

    if (!file)
        return fail("open");
    lock(store);
    write_pairs(store, file);
    unlock(store);

    bool failed = ferror(file);

    if (fclose(file) || failed)
        return fail("write");
    log_info("saved to %s", path);
    return 0;
}

/* Returns a string that the caller frees; NULL if it is incomplete. */
static char *read_string(FILE *file)
{
    char *text = NULL;
    size_t size = 0;
    ssize_t length = getdelim(&text, &size, '\0', file);

    if (length > 0 && !text[length - 1])
        return text;
    free(text);
    errno = EBADMSG;
    return NULL;
}

static int read_pair(struct store *store, FILE *file)
{
    char *key = read_string(file);
    char *value = read_string(file);
    int result = key && value ? store_put(store, key, value) : -1;

    free(key);
    free(value);
    return result;
}

int store_load(struct store *store, const char *path)
{
    trace_function(INFO, (path));

    FILE *file = fopen(path, "r");
    size_t count;
    int result = 0;

    if (!file)
        return fail("open");
    if (fscanf(file, "store %zu", &count) != 1 || fgetc(file) != '\n') {
        errno = EBADMSG;
        result = -1;
    }
    for (; !result && count; count--)
        result = read_pair(store, file);
    if (result)
        fail("read");
    fclose(file);
    return result;
}
