/* nvtx_cxx.cpp: a test of C++ that annotates with NVTX. It needs the headers of
 * a CUDA toolkit. */
#include <nvtx3/nvtx3.hpp>

#include <testlog/test_log.h>

struct lib {
    static constexpr const char *name = "cxx.lib";
};

static void step(int number)
{
    nvtx3::scoped_range_in<lib> range{nvtx3::event_attributes{
        "step", nvtx3::payload{number}, nvtx3::rgb{1, 2, 3}}};

    log_info("inside");
    NVTX3_FUNC_RANGE_IN(lib);
    nvtx3::mark_in<lib>("mark");
}

TEST_LOG(nvtx, scopes)
{
    nvtx3::unique_range_in<lib> range{"unique"};

    step(3);
}
