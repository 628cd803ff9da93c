/* fuzz_activity.c: feeds any bytes as CUPTI records of any lengths. */
#include "fuzz_activity.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The first bytes are the lengths of the kinds of records. Half of the rest
 * comes in a second round. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    enum { LENGTHS = 56 };
    size_t half;

    if (size < LENGTHS + 1)
        return 0;
    fuzz_begin();
    cupti.decoder.counts.plausible =
        data[LENGTHS] % 2; /* whether the first is checked */
    for (size_t i = 1; i < LENGTHS; i++)
        cupti.decoder.library.strides[i] = (uint16_t)(data[i] % 32 * 8);
    data += LENGTHS;
    size -= LENGTHS;
    half = size / 16 * 8;
    fuzz_decode(data, half, false);
    fuzz_decode(data + half, size - half, true);
    return 0;
}
