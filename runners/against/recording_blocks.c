/* recording_blocks.c: the recordings of tests that changed, for two time lines.
 */
#include <stdlib.h>
#include <string.h>

#include "against.h"
#include "harness/run/page/recorded.h"
#include "runners/runs/find.h"
#include "trace/base/text.h"

enum { RECORDINGS_MOST = 16 << 20 /* bytes of the file */ };

/* Packs the recording of a test; false if there is none. */
static bool pack(struct test_log_packed *packed, const struct test_log_run *run,
                 const struct test_log_result *result)
{
    struct trace_reader *reader =
        result && result->folder ? runners_open_in(run, result->folder) : NULL;
    struct test_log_counts counts;
    struct trace_text block = {0};
    bool packs = false;

    *packed = (struct test_log_packed){.size = 0};
    if (reader &&
        !test_log_recorded_put(
            &block, "", reader, trace_reader_meta(reader, "log"),
            trace_reader_zero(reader, (struct trace_noted){0}), &counts))
        packs = !test_log_pack(packed, &block);
    trace_reader_close(reader);
    trace_text_free(&block);
    return packs;
}

static void put(struct test_log_page_file *file, char side, size_t row,
                const struct test_log_packed *packed)
{
    char id[32];

    snprintf(id, sizeof(id), "%c%zu", side, row);
    test_log_page_element(file, id, packed, true);
}

/* A time line alone shows no difference. */
static void put_pair(struct test_log_page_file *file,
                     const struct compared *compared, size_t row)
{
    const struct change *change = &compared->changes.all[row];
    struct test_log_packed old, new = {.bytes = NULL};

    if (pack(&old, &compared->before, change->before) &&
        pack(&new, &compared->after, change->after) &&
        (old.size + new.size) / 3 * 4 < file->left) {
        put(file, 'o', row, &old);
        put(file, 'n', row, &new);
    }
    free(old.bytes);
    free(new.bytes);
}

void runners_against_recordings(const struct against *against, size_t rows,
                                struct test_log_page_file *file)
{
    const struct changes *changes = &against->compared.changes;

    if (file->left > RECORDINGS_MOST)
        file->left = RECORDINGS_MOST;
    for (size_t i = 0; i < changes->count && i < rows; i++)
        if (changes->all[i].before && changes->all[i].after &&
            (against->named || changes->all[i].kind != CHANGE_UNCHANGED))
            put_pair(file, &against->compared, i);
}
