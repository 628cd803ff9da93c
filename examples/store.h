/* store.h: a small key-value store that evicts the least recently used pair.
 *
 * Keys and values are strings. Every function may be called from any thread;
 * those that return int return 0 on success and -1 with errno set on failure.
 */
#ifndef EXAMPLES_STORE_H
#define EXAMPLES_STORE_H

#include <stddef.h>

struct store;

/* store_new returns an empty store for `capacity` (> 0) pairs, to be released
 * with store_free. NULL with errno set on failure. */
struct store *store_new(size_t capacity);

/* store_free releases a store and its pairs; NULL is fine. */
void store_free(struct store *);

/* store_put copies a pair into the store as the most recently used one, and
 * replaces the former value of `key`. A full store evicts a pair first. */
int store_put(struct store *, const char *key, const char *value);

/* store_get returns a copy of the value of `key`, which the caller frees, and
 * makes the pair the most recently used one. NULL with errno ENOENT if there is
 * none, otherwise ENOMEM. */
char *store_get(struct store *, const char *key);

/* store_delete removes a pair. It fails with ENOENT if there is none. */
int store_delete(struct store *, const char *key);

/* store_len returns the number of pairs. */
size_t store_len(struct store *);

/* store_save writes all pairs and their order of use to the file at `path`. The
 * former content of the file is lost, even on failure. */
int store_save(struct store *, const char *path);

/* store_load puts the pairs of such a file into the store. It fails with
 * EBADMSG if the file is incomplete; pairs that were read before a failure
 * remain. */
int store_load(struct store *, const char *path);

#endif
