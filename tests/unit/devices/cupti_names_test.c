/* cupti_names_test.c: names calls, kernels and errors. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "tests/fuzz/fuzz_activity.h"
#include "tests/support/support.h"

TestSuite(cupti_names, .init = fuzz_begin);

Test(cupti_names, strips_versions_and_suffixes_of_calls)
{
    static const char *const names[][2] = {
        {"cudaLaunchKernel_v7000", "cudaLaunchKernel"},
        {"__cudaLaunchKernel_v13000", "cudaLaunchKernel"},
        {"__cudaLaunchKernel_ptsz_v13000", "cudaLaunchKernel"},
        {"cuLaunchKernel_ptsz", "cuLaunchKernel"},
        {"cuMemcpyHtoD_v2_ptds", "cuMemcpyHtoD"},
        {"cuCtxSynchronize", "cuCtxSynchronize"},
        {"cuMemcpy3D_v2", "cuMemcpy3D"},
        {"cuda_version", "cuda_version"},
        {"cuX_v", "cuX_v"},
        {"_v1", "_v1"},
        {"_ptsz", "_ptsz"},
        {"", ""},
    };
    char shown[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        cupti_strip(names[i][0], shown, sizeof(shown));
        cr_expect_str_eq(shown, names[i][1]);
    }
    cupti_strip("cudaLaunchKernel", shown, 5);
    cr_expect_str_eq(shown, "cuda");
}

Test(cupti_names, asks_for_a_call_s_name_once)
{
    const char *raw;

    cr_expect_str_eq(
        cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_DRIVER, 3, &raw),
        "unknown call");
    cr_expect_str_eq(
        cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_DRIVER, 1, &raw),
        "cuLaunchKernel");
    cr_expect_str_eq(raw, "cuLaunchKernel_ptsz");
    cupti.callback_name = NULL; /* must not be called again */
    cr_expect_str_eq(
        cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_DRIVER, 1, &raw),
        "cuLaunchKernel");
}

Test(cupti_names, names_calls_with_unknown_ids)
{
    const char *raw;

    cr_expect_str_eq(
        cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_DRIVER, 1000001, &raw),
        "cuLaunchKernel_ptsz");
    cr_expect_str_eq(cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_RUNTIME,
                                     UINT32_MAX - 1, &raw),
                     "unknown call");
}

Test(cupti_names, demangles_kernels)
{
    const char *name =
        cupti_kernel_name(&cupti.decoder.names, "_Z5saxpyIfEvPT_PKS0_S0_i")
            .shown;

    cr_expect_str_eq(name,
                     "void saxpy<float>(float*, float const*, float, int)");
    cr_expect_eq(
        cupti_kernel_name(&cupti.decoder.names, "_Z5saxpyIfEvPT_PKS0_S0_i")
            .shown,
        name);
    cr_expect_str_eq(
        cupti_kernel_name(&cupti.decoder.names, "identity_f16").shown,
        "identity_f16");
    cr_expect_str_eq(cupti_kernel_name(&cupti.decoder.names, "_Znothing").shown,
                     "_Znothing");
    cr_expect_str_eq(cupti_kernel_name(&cupti.decoder.names, "").shown, "");
}

Test(cupti_names, leaves_a_very_long_name_mangled)
{
    char *name = malloc(20001);

    memset(name, 'i', 20000);
    memcpy(name, "_Z19990", 7);
    name[20000] = '\0';
    cr_expect_str_eq(cupti_kernel_name(&cupti.decoder.names, name).shown, name);
    free(name);
}

Test(cupti_names, keeps_raw_names_without_memory)
{
    const char *raw;

    if (!test_can_fail_memory())
        cr_skip("a sanitizer owns the memory");
    test_fail_memory(1, false);
    cr_expect_str_eq(cupti_kernel_name(&cupti.decoder.names, "_Z3foov").shown,
                     "_Z3foov");
    cr_expect_str_eq(
        cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_DRIVER, 1, &raw),
        "cuLaunchKernel_ptsz");
    test_fail_memory(0, false);
    cr_expect_str_eq(cupti_kernel_name(&cupti.decoder.names, "_Z3foov").shown,
                     "foo()");
    cr_expect_str_eq(
        cupti_call_name(&cupti.decoder, CUPTI_DOMAIN_DRIVER, 1, &raw),
        "cuLaunchKernel");
}

Test(cupti_names, returns_no_name_for_errors_without_a_runtime)
{
    cr_expect_null(cupti_process.error(NULL, CUPTI_DOMAIN_RUNTIME, 2));
    cr_expect_null(cupti_process.error(NULL, CUPTI_DOMAIN_DRIVER, 2));
}

Test(cupti_names, probes_memory_without_touching_it)
{
    void *page =
        mmap(NULL, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    cr_expect(cupti_is_readable("text"));
    cr_expect_not(cupti_is_readable(NULL));
    cr_expect_not(cupti_is_readable(page));
    cr_expect_not(cupti_is_readable((void *)(uintptr_t)0x123456789abc));
}

static const char *string_at(const void *address)
{
    uint64_t words[14] = {0};
    struct cupti_record record = {(const uint8_t *)words, sizeof(words),
                                  CUPTI_KIND_CONCURRENT_KERNEL};

    words[13] = (uintptr_t)address;
    return cupti_string(&cupti.decoder, &record, CUPTI_KERNEL_NAME);
}

Test(cupti_names, replaces_texts_that_cannot_be_read)
{
    static const char text[] = "text";

    for (int i = 0; i < 2; i++) {
        cr_expect_eq(string_at(text), text);
        cr_expect_str_eq(string_at(NULL), "?");
        cr_expect_str_eq(string_at((void *)(uintptr_t)0x123456789abc), "?");
    }
}
