/* cupti_occupancy_test.c: estimates the occupancy of kernels. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/devices.h"

TestSuite(cupti_occupancy, .init = devices_init);

enum { KIB = 1024 };

static const struct cupti_device h200 = {
    .major = 9,
    .processors = 132,
    .warp = 32,
    .warps = 64,
    .blocks = 32,
    .registers = 65536,
    .shared = 228 * KIB,
};

static void expect(const struct cupti_launch *launch, uint64_t blocks,
                   unsigned percent, const char *limit)
{
    struct cupti_occupancy occupancy = {0};

    cr_assert(cupti_occupancy(&h200, launch, &occupancy));
    cr_expect_eq(occupancy.blocks, blocks, "%d", (int)occupancy.blocks);
    cr_expect_eq(occupancy.percent, percent, "%u", occupancy.percent);
    cr_expect_str_eq(occupancy.limit, limit);
}

Test(cupti_occupancy, finds_what_limits_a_kernel)
{
    struct cupti_launch launch = {
        .grid = {100000, 1, 1}, .block = {256, 1, 1}, .registers = 32};

    expect(&launch, 8, 100, "warps");
    launch.registers = 33;
    expect(&launch, 6, 75, "registers");
    launch.registers = 255;
    expect(&launch, 1, 12, "registers");
    launch.registers = 16;
    launch.shared = 100 * KIB;
    expect(&launch, 2, 25, "shared");
    launch.shared = 0;
    launch.block[0] = 32;
    expect(&launch, 32, 50, "blocks");
    launch.grid[0] = 132;
    expect(&launch, 32, 1, "grid");
}

Test(cupti_occupancy, counts_incomplete_warps)
{
    struct cupti_launch launch = {
        .grid = {100000, 1, 1}, .block = {11, 3, 1}, .registers = 16};

    expect(&launch, 32, 100, "warps");
    launch.block[2] = 11;
    expect(&launch, 5, 93, "warps");
}

static void refuse(const struct cupti_device *device,
                   const struct cupti_launch *launch)
{
    struct cupti_occupancy occupancy;

    cr_expect_not(cupti_occupancy(device, launch, &occupancy));
}

Test(cupti_occupancy, refuses_what_cannot_run)
{
    const struct cupti_device none = {0};
    struct cupti_launch launch = {
        .grid = {1, 1, 1}, .block = {1024, 1, 1}, .registers = 64};

    expect(&launch, 1, 0, "grid");
    refuse(&none, &launch);
    launch.registers = 65;
    refuse(&h200, &launch);
    launch.registers = 0;
    launch.shared = 228 * KIB;
    refuse(&h200, &launch);
    launch.shared = 0;
    launch.block[1] = 2;
    refuse(&h200, &launch);
    launch.block[1] = 0;
    refuse(&h200, &launch);
    launch.block[1] = UINT32_MAX;
    refuse(&h200, &launch);
}

Test(cupti_occupancy, accepts_the_largest_grid)
{
    const struct cupti_launch launch = {
        .grid = {UINT32_MAX, UINT32_MAX, UINT32_MAX},
        .block = {1024, 1, 1},
        .registers = 32};

    expect(&launch, 2, 100, "warps");
}

/* ---- The toolkit's calculator ---- */

/* X(major, minor, warps, blocks, shared KiB) */
#define CAPABILITIES(X)                                                        \
    X(7, 0, 64, 32, 96)                                                        \
    X(7, 5, 32, 16, 64)                                                        \
    X(8, 0, 64, 32, 164)                                                       \
    X(8, 6, 48, 16, 100)                                                       \
    X(8, 9, 48, 24, 100)                                                       \
    X(9, 0, 64, 32, 228)                                                       \
    X(10, 0, 64, 32, 228)                                                      \
    X(12, 0, 48, 24, 100)

#define CALCULATOR                                                             \
    "#include <stdio.h>\n"                                                     \
    "#include <string.h>\n"                                                    \
    "#include <cuda_occupancy.h>\n"                                            \
    "static int check(int major, int minor, int warps, int shared,\n"          \
    "                 int registers, int threads, int bytes, int blocks)\n"    \
    "{\n"                                                                      \
    "    cudaOccDeviceProp device;\n"                                          \
    "    cudaOccFuncAttributes function;\n"                                    \
    "    cudaOccDeviceState state;\n"                                          \
    "    cudaOccResult result;\n"                                              \
    "    memset(&device, 0, sizeof(device));\n"                                \
    "    memset(&function, 0, sizeof(function));\n"                            \
    "    memset(&state, 0, sizeof(state));\n"                                  \
    "    device.computeMajor = major;\n"                                       \
    "    device.computeMinor = minor;\n"                                       \
    "    device.maxThreadsPerBlock = 1024;\n"                                  \
    "    device.maxThreadsPerMultiprocessor = warps * 32;\n"                   \
    "    device.regsPerBlock = device.regsPerMultiprocessor = 65536;\n"        \
    "    device.warpSize = 32;\n"                                              \
    "    device.sharedMemPerBlock = 48 << 10;\n"                               \
    "    device.sharedMemPerMultiprocessor = shared;\n"                        \
    "    device.sharedMemPerBlockOptin = shared;\n"                            \
    "    device.numSms = 100;\n"                                               \
    "    device.reservedSharedMemPerBlock = major >= 8 ? 1024 : 0;\n"          \
    "    function.maxThreadsPerBlock = 1024;\n"                                \
    "    function.numRegs = registers;\n"                                      \
    "    function.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;\n"                \
    "    function.maxDynamicSharedSizeBytes = bytes;\n"                        \
    "    function.numBlockBarriers = 1;\n"                                     \
    "    state.carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT;\n"                 \
    "    if (!cudaOccMaxActiveBlocksPerMultiprocessor(\n"                      \
    "            &result, &device, &function, &state, threads, bytes) &&\n"    \
    "        result.activeBlocksPerMultiprocessor == blocks)\n"                \
    "        return 0;\n"                                                      \
    "    fprintf(stderr, \"%d.%d: %d registers, %d threads, %d bytes: \"\n"    \
    "            \"%d, not %d\\n\", major, minor, registers, threads,\n"       \
    "            bytes, result.activeBlocksPerMultiprocessor, blocks);\n"      \
    "    return 1;\n"                                                          \
    "}\n"                                                                      \
    "int main(void)\n"                                                         \
    "{\n"                                                                      \
    "    int wrong = 0;\n"

static void add_check(struct trace_text *code,
                      const struct cupti_device *device)
{
    struct cupti_launch launch = {.grid = {1, 1, 1},
                                  .block = {1 + test_below(1024), 1, 1},
                                  .registers = 1 + test_below(255)};
    struct cupti_occupancy occupancy = {0};

    if (test_below(2))
        launch.shared = test_below(device->shared - 2 * KIB);
    if (!cupti_occupancy(device, &launch, &occupancy))
        occupancy.blocks = 0;
    trace_text_printf(code,
                      "    wrong += check(%u, %u, %u, %u, %u, %u, %u, %u);\n",
                      device->major, device->minor, device->warps,
                      device->shared, launch.registers, launch.block[0],
                      (unsigned)launch.shared, (unsigned)occupancy.blocks);
}

Test(cupti_occupancy, agrees_with_the_toolkit_s_calculator)
{
    static const struct cupti_device devices[] = {
#define TRACE_X(major_, minor_, warps_, blocks_, shared_)                      \
    {.major = major_,                                                          \
     .minor = minor_,                                                          \
     .processors = 100,                                                        \
     .warp = 32,                                                               \
     .warps = warps_,                                                          \
     .blocks = blocks_,                                                        \
     .registers = 65536,                                                       \
     .shared = shared_ * KIB},
        CAPABILITIES(TRACE_X)
#undef TRACE_X
    };
    struct trace_text code = {0};
    char root[PATH_MAX], command[PATH_MAX * 4];

    if (!devices_toolkit(root))
        cr_skip("no CUDA toolkit");
    test_seed(1);
    trace_text_string(&code, CALCULATOR);
    for (size_t i = 0; i < sizeof(devices) / sizeof(*devices); i++)
        for (int j = 0; j < 200; j++)
            add_check(&code, &devices[i]);
    trace_text_string(&code, "    return wrong != 0;\n}\n");
    test_save(test_path("calculator.c"), code.data, code.size);
    snprintf(command, sizeof(command), "cc -w -I%s/include -o %s %s && %s",
             root, test_path("calculator"), test_path("calculator.c"),
             test_path("calculator"));
    cr_expect_eq(system(command), 0);
    trace_text_free(&code);
}
