/* strings.h: UTF-8, hashes and base names. Private to the project. The audit
 * library, which has no libc, uses it, too. */
#ifndef TRACE_STRINGS_H
#define TRACE_STRINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- UTF-8: strings.c ---- */

/* trace_utf8_decode decodes the character at the start of `text` and returns
 * its bytes, 0 if the text does not start with a character of UTF-8. */
size_t trace_utf8_decode(const char *text, size_t size, uint32_t *character);

/* trace_utf8_continues returns whether a byte continues a character. */
static inline bool trace_utf8_continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* trace_utf8_boundary returns where the character begins that has the byte
 * `at`; `at` itself if the text is not UTF-8 there. */
size_t trace_utf8_boundary(const char *text, size_t at);

/* ---- Hashes: FNV-1a ---- */

#define TRACE_HASH UINT64_C(14695981039346656037)

/* trace_hash adds bytes to a hash that starts with TRACE_HASH. */
static inline uint64_t trace_hash(uint64_t hash, const void *bytes, size_t size)
{
    const unsigned char *byte = bytes;

    for (size_t i = 0; i < size; i++)
        hash = (hash ^ byte[i]) * UINT64_C(1099511628211);
    return hash;
}

/* trace_mix adds a number to a hash. */
static inline uint64_t trace_mix(uint64_t hash, uint64_t number)
{
    hash = (hash ^ number) * UINT64_C(0x9e3779b97f4a7c15); /* golden ratio */
    return hash ^ hash >> 32;
}

/* trace_hash_string adds a string without its NUL. */
static inline uint64_t trace_hash_string(uint64_t hash, const char *string)
{
    for (; *string; string++)
        hash = trace_hash(hash, string, 1);
    return hash;
}

/* ---- Paths ---- */

/* trace_path_below returns the part of a path below a folder, NULL if it is
 * elsewhere. It compares names only. */
static inline const char *trace_path_below(const char *path, const char *folder)
{
    size_t size = 0;

    while (folder[size] && path[size] == folder[size])
        size++;
    return !folder[size] && path[size] == '/' ? path + size + 1 : NULL;
}

/* trace_base_name returns the part of a path behind its last slash. */
static inline const char *trace_base_name(const char *path)
{
    const char *base = path;

    for (; *path; path++)
        if (*path == '/')
            base = path + 1;
    return base;
}

#endif
