/* criterion_inside.c: what we rely on of Criterion's inside, beyond the
 * functions that it documents. The versions that `make test-criterion` was run
 * with, 2.4.1 to 2.4.3, have all of it.
 */
#include <dlfcn.h>
#include <link.h>
#include <string.h>

#include <criterion/options.h>

#include "harness/machine/notice.h"
#include "program.h"
#include "trace/base/strings.h"

/* Functions that ours of the same name replace (harness/worker/), and what is
 * off in a Criterion without one. */
static const struct part {
    const char *name, *without;
} parts[] = {
    {"criterion_internal_test_setup", "tests have no log and no trace"},
    {"criterion_internal_test_main",
     "phases of tests and exceptions are not recorded"},
    {"criterion_internal_test_teardown",
     "what tests leave behind is not judged"},
    {"criterion_send_assert", "failed assertions are not recorded"},
    {"cri_assert_node_send",
     "failed assertions of criterion/new/assert.h are not recorded"},
    {"criterion_test_die", "uncaught exceptions are not recorded"},
    {"criterion_abort_test", "a test's forked child may hold up the run"},
    {"criterion_skip_test", "a test's forked child may hold up the run"},
    {"cr_log", "a test's forked child may hold up the run"},
};

/* Criterion 2.3 has the SONAME of 2.4, but other structs. */
static bool is_old(void *library)
{
    return !dlsym(library, "cri_assert_message"); /* new in 2.4 */
}

static bool has_other_structs(void *library)
{
    const ElfW(Sym) *symbol = NULL;
    void *options = dlsym(library, "criterion_options");
    Dl_info info;

    return options &&
           dladdr1(options, &info, (void **)&symbol, RTLD_DL_SYMENT) &&
           symbol && symbol->st_size != sizeof(struct criterion_options);
}

static void name_missing(void *library, const char *path)
{
    for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
        if (!dlsym(library, parts[i].name))
            test_log_notice("%s has no %s, so %s", path, parts[i].name,
                            parts[i].without);
}

/* A static Criterion is the one that the program was built with. */
static void *open_criterion(Dl_info *info)
{
    static const char name[] = "libcriterion.so";
    void *function = dlsym(RTLD_DEFAULT, "criterion_initialize");

    return function && dladdr(function, info) &&
                   !strncmp(trace_base_name(info->dli_fname), name,
                            strlen(name))
               ? dlopen(info->dli_fname, RTLD_LAZY | RTLD_NOLOAD)
               : NULL;
}

bool test_log_criterion_suits(void)
{
    Dl_info info;
    void *library = open_criterion(&info);
    bool old, suits;

    if (!library)
        return true;
    old = is_old(library);
    suits = !old && !has_other_structs(library);
    if (old)
        test_log_notice("%s is older than Criterion 2.4, which testlog needs; "
                        "install libcriterion 2.4 or newer",
                        info.dli_fname);
    else if (!suits)
        test_log_notice("%s is another Criterion than the one that testlog was "
                        "built with; build testlog again",
                        info.dli_fname);
    else
        name_missing(library, info.dli_fname);
    dlclose(library);
    return suits;
}
