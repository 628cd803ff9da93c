/* cupti_min.h: the least that a client of CUPTI does: it counts records. What
 * libtestlog-gpu.so costs more than this is its own cost.
 */
#ifndef TESTS_GPU_CUPTI_MIN_H
#define TESTS_GPU_CUPTI_MIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CUPTI_MIN_KINDS = 128 };

extern struct cupti_min {
    long records[CUPTI_MIN_KINDS];
    long bytes, buffers;
    char refused[512]; /* what CUPTI did not do */
    /* If set, it is told each buffer, while no other is. */
    void (*see)(const uint8_t *buffer, size_t size, uint32_t stream);
} cupti_min;

/* cupti_min_start enables the kinds of a list such as ":10,5", with TRACE_CUPTI
 * or the libcupti that is found; -1 if there is none. A kind that is refused is
 * noted. */
int cupti_min_start(const char *kinds);

/* cupti_min_flush and cupti_min_dropped do nothing unless it was started. */
void cupti_min_flush(uint32_t forced);
size_t cupti_min_dropped(void);

/* cupti_min_next steps to the next record, as cuptiActivityGetNextRecord. */
int cupti_min_next(const uint8_t *buffer, size_t size, void **record);
uint32_t cupti_min_version(void);

/* cupti_min_now is the clock: CLOCK_MONOTONIC, ns. */
uint64_t cupti_min_now(void);

#endif
