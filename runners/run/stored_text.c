/* stored_text.c: keeps a text in a file so that a full disk or a kill leaves
 * the text that was there before.
 *
 * The file has two places with a head and a text each. A text is written to the
 * place of the older one, and is there once its hash is right.
 */
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "run.h"
#include "trace/base/strings.h"

enum { PLACES = 2, TEXT_MOST = 1 << 30 };

struct head {
    uint64_t number; /* counts up; 0: there is none */
    uint64_t size, hash;
};

static off_t place_of(size_t i)
{
    return (off_t)i * (TEXT_MOST + (off_t)sizeof(struct head));
}

/* A head that is cut has the number of one text and the hash of another. */
static uint64_t hash_of(uint64_t number, const char *text)
{
    return trace_hash_string(TRACE_HASH + number, text);
}

/* Returns the text at a place, to be freed; NULL if it is not whole. */
static char *read_place(int file, size_t i, struct head *head)
{
    char *text = NULL;

    if (pread(file, head, sizeof(*head), place_of(i)) ==
            (ssize_t)sizeof(*head) &&
        head->number && head->size < TEXT_MOST)
        text = calloc(1, head->size + 1);
    if (text &&
        pread(file, text, head->size, place_of(i) + (off_t)sizeof(*head)) ==
            (ssize_t)head->size &&
        hash_of(head->number, text) == head->hash)
        return text;
    free(text);
    *head = (struct head){.number = 0};
    return NULL;
}

/* Returns the latest text, and where it is in `last`. */
static char *find(int file, struct head *last, size_t *place)
{
    char *text = NULL;

    *last = (struct head){.number = 0};
    *place = PLACES - 1;
    for (size_t i = 0; i < PLACES; i++) {
        struct head head;
        char *other = read_place(file, i, &head);

        if (head.number <= last->number) {
            free(other);
            continue;
        }
        free(text);
        text = other;
        *last = head;
        *place = i;
    }
    return text;
}

char *runners_stored_text(int file)
{
    struct head head;
    size_t place;

    return find(file, &head, &place);
}

int runners_store_text(int file, const char *text)
{
    struct head head;
    size_t place, size = strlen(text);
    off_t at;

    free(find(file, &head, &place));
    at = place_of((place + 1) % PLACES);
    head = (struct head){.number = head.number + 1,
                         .size = size,
                         .hash = hash_of(head.number + 1, text)};
    return size < TEXT_MOST &&
                   pwrite(file, &head, sizeof(head), at) ==
                       (ssize_t)sizeof(head) &&
                   pwrite(file, text, size, at + (off_t)sizeof(head)) ==
                       (ssize_t)size
               ? 0
               : -1;
}
