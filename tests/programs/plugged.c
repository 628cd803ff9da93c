/* plugged.c: PLUGIN: an annotated shared library; otherwise a test that loads
 * it, or is LINKED with it. */
#include <dlfcn.h>

#include <testlog/test_log.h>

int plugged(int number);

#ifdef PLUGIN
int plugged(int number)
{
    trace_function(INFO, (number));

    struct trace_stack *stack = trace_stack_save();

    log_info("doubles %d", number);
    log_bridge_text(TRACE_LEVEL_INFO, "other", "other.c", 1, "also");
    trace_stack_restore(stack);
    return number * 2;
}
#else
TEST_LOG(plugged, works)
{
#    ifdef LINKED
    cr_assert_eq(plugged(2), 4);
#    else
    void *library = dlopen("./libplugged.so", RTLD_NOW);
    int (*function)(int);

    cr_assert(library, "%s", dlerror());
    *(void **)&function = dlsym(library, "plugged");
    cr_assert_eq(function(2), 4);
#    endif
}
#endif
