/* cupti_min.h: a minimal client of CUPTI, which counts records. The difference
 * to libtestlog-gpu.so is testlog's own cost.
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
    char refused[512]; /* what CUPTI refused */
    /* If set, it is called with each buffer, one at a time. */
    void (*see)(const uint8_t *buffer, size_t size, uint32_t stream);
    /* If set, they replace malloc and free. */
    uint8_t *(*make)(size_t *size);
    void (*take)(uint8_t *buffer, size_t valid);
} cupti_min;

/* cupti_min_start enables the kinds of a list such as ":10,5", with TRACE_CUPTI
 * or the libcupti it finds; returns -1 if there is none. Refused kinds are
 * noted. */
int cupti_min_start(const char *kinds);

/* cupti_min_flush and cupti_min_dropped do nothing before cupti_min_start. */
void cupti_min_flush(uint32_t forced);
size_t cupti_min_dropped(void);

/* cupti_min_load only loads the library, for cupti_min_next. */
int cupti_min_load(void);

/* cupti_min_next steps to the next record, like cuptiActivityGetNextRecord. */
int cupti_min_next(const uint8_t *buffer, size_t size, void **record);
uint32_t cupti_min_version(void);

/* cupti_min_now is the clock: CLOCK_MONOTONIC, ns. */
uint64_t cupti_min_now(void);

#endif
