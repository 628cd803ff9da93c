/* occupancy.c: estimates how many warps of a kernel a multiprocessor holds.
 *
 * The rules and the numbers are those of CUDA's occupancy calculator
 * (cuda_occupancy.h of the toolkit): a multiprocessor holds as many blocks as
 * its warps, blocks, registers and shared memory allow. Registers are allocated
 * to warps, in each partition of the multiprocessor. As much memory as possible
 * is shared memory, not cache, and a block reserves a part of it. Clusters,
 * which need several multiprocessors at once, are not considered.
 */
#include "decoder.h"

enum {
    REGISTER_UNIT = 256,
    MOST_THREADS = 1024, /* of a block */
    MOST_WARPS = 1 << 10,
    MOST_PROCESSORS = 1 << 16,
};

static bool is_plausible(const struct cupti_device *device)
{
    return device->warp && device->warp <= MOST_THREADS && device->warps &&
           device->warps <= MOST_WARPS && device->blocks &&
           device->blocks <= MOST_WARPS && device->processors &&
           device->processors <= MOST_PROCESSORS;
}

static uint64_t round_up(uint64_t number, uint64_t unit)
{
    return (number + unit - 1) / unit * unit;
}

/* Blocks that the registers are enough for; 0: it cannot run. */
static uint64_t by_registers(const struct cupti_device *device,
                             uint64_t registers, uint64_t warps)
{
    uint64_t partitions = device->major == 6 && !device->minor ? 2 : 4;
    uint64_t each = round_up(registers * device->warp, REGISTER_UNIT);

    if (!each)
        return UINT32_MAX;
    if (each * round_up(warps, partitions) > device->registers)
        return 0;
    return device->registers / partitions / each * partitions / warps;
}

static uint64_t by_shared(const struct cupti_device *device, uint64_t bytes)
{
    bool reserves = device->major >= 8;
    uint64_t each =
        round_up(bytes + (reserves ? 1024 : 0), reserves ? 128 : 256);

    return each ? device->shared / each : UINT32_MAX;
}

/* Returns the number of blocks, up to `most`. */
static uint64_t blocks_of(const uint32_t grid[3], uint64_t most)
{
    uint64_t blocks = 1;

    for (unsigned i = 0; i < 3; i++) {
        blocks *= grid[i];
        blocks = blocks < most ? blocks : most;
    }
    return blocks;
}

static uint64_t threads_of(const uint32_t block[3])
{
    uint64_t threads = 1;

    for (unsigned i = 0; i < 3; i++)
        if (block[i] > MOST_THREADS)
            return 0;
        else
            threads *= block[i];
    return threads <= MOST_THREADS ? threads : 0;
}

bool cupti_occupancy(const struct cupti_device *device,
                     const struct cupti_launch *launch,
                     struct cupti_occupancy *occupancy)
{
    uint64_t threads = threads_of(launch->block), warps, blocks;

    if (!threads || !is_plausible(device))
        return false;
    warps = (threads + device->warp - 1) / device->warp;

    const struct {
        const char *name;
        uint64_t blocks;
    } limits[] = {
        {"warps", device->warps / warps},
        {"blocks", device->blocks},
        {"registers", by_registers(device, launch->registers, warps)},
        {"shared", by_shared(device, launch->shared)},
    };

    occupancy->limit = limits[0].name;
    occupancy->blocks = limits[0].blocks;
    for (size_t i = 1; i < sizeof(limits) / sizeof(*limits); i++)
        if (limits[i].blocks < occupancy->blocks) {
            occupancy->limit = limits[i].name;
            occupancy->blocks = limits[i].blocks;
        }
    blocks = blocks_of(launch->grid, occupancy->blocks * device->processors);
    if (blocks < occupancy->blocks * device->processors)
        occupancy->limit = "grid";
    occupancy->percent =
        (unsigned)(100 * blocks * warps /
                   ((uint64_t)device->warps * device->processors));
    return occupancy->blocks > 0;
}
