/* nvtx_plugin.c: a shared object that annotates with NVTX, for programs and for
 * Python. It needs the headers of a CUDA toolkit. */
#include <nvtx3/nvToolsExt.h>

__attribute__((visibility("default"))) void nvtx_plugin_annotate(
    const char *text);

void nvtx_plugin_annotate(const char *text)
{
    nvtxRangePushA(text);
    nvtxMarkA("within");
    nvtxRangePop();
}
