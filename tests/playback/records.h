/* records.h: where CUPTI's records have times, strings and the thread, for
 * playing fixtures back and recording them. 0: nowhere.
 */
#ifndef TESTS_PLAYBACK_RECORDS_H
#define TESTS_PLAYBACK_RECORDS_H

#include <stdint.h>

enum { RECORD_KINDS = 128 };

static const struct record_row {
    uint16_t start, end, string, thread;
} record_rows[RECORD_KINDS] = {
    [1] = {16, 24, 0, 0},  [2] = {16, 24, 0, 0},  [4] = {8, 16, 0, 28},
    [5] = {8, 16, 0, 28},  [8] = {0, 0, 136, 0},  [10] = {16, 24, 104, 0},
    [11] = {0, 0, 24, 0},  [25] = {16, 24, 0, 0}, [36] = {40, 0, 0, 0},
    [17] = {24, 32, 0, 0}, [22] = {16, 24, 0, 0}, [38] = {8, 16, 0, 0},
    [49] = {32, 0, 64, 0}, [51] = {8, 16, 0, 0},  [52] = {16, 24, 56, 68},
};

#endif
