/* nvtx_client.c: the tables that a program which calls NVTX offers to a tool.
 */
#include "nvtx.h"

enum { MODULES = NVTX_IN_SYNC + 1, MOST = 15 + 2 };

static nvtx_function functions[MODULES][MOST]; /* those of the tool */
static nvtx_function *tables[MODULES][MOST];   /* that the tool fills */

static const unsigned counts[MODULES] = {
#define NVTX_X(name, number, functions) [number] = (functions),
    NVTX_MODULES(NVTX_X)
#undef NVTX_X
};

static int table_of(uint32_t module, nvtx_function ***table, unsigned *entries)
{
    if (module >= MODULES || !counts[module])
        return 0;
    for (unsigned i = 1; i <= counts[module]; i++)
        tables[module][i] = &functions[module][i];
    if (table)
        *table = tables[module];
    if (entries)
        *entries = counts[module] + 1;
    return 1;
}

static void ignore_version(uint32_t version)
{
    (void)version;
}

const void *trace_nvtx_table(uint32_t table)
{
    static const struct nvtx_callbacks callbacks = {sizeof(callbacks),
                                                    table_of};
    static const struct nvtx_version_info version = {
        sizeof(version), NVTX_IS_VERSION, 0, ignore_version};

    return table == NVTX_TABLE_CALLBACKS ? (const void *)&callbacks
           : table == NVTX_TABLE_VERSION ? (const void *)&version
                                         : NULL;
}

nvtx_function trace_nvtx_function(enum nvtx_function_module module,
                                  enum nvtx_function_number number)
{
    return __atomic_load_n(&functions[module][number], __ATOMIC_ACQUIRE);
}
