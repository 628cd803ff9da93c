/* loading.c: tests that load and unload annotated code: ./one.so, ./other.so
 * and ./cxx.so, built from plugin.c and plugin.cpp. */
#include <dlfcn.h>
#include <string.h>

#include <testlog/test_log.h>

struct plugin {
    void *handle;
    int (*work)(int);
    struct trace_span_ref (*begin)(void);
};

static struct plugin load(const char *path)
{
    struct plugin plugin = {.handle = dlopen(path, RTLD_NOW | RTLD_LOCAL)};
    void *work, *begin;

    cr_assert_not_null(plugin.handle, "%s", dlerror());
    work = dlsym(plugin.handle, "plugin_work");
    begin = dlsym(plugin.handle, "plugin_begin");
    memcpy(&plugin.work, &work, sizeof(work));
    memcpy(&plugin.begin, &begin, sizeof(begin));
    return plugin;
}

static void unload(const struct plugin *plugin, const char *path)
{
    cr_assert_eq(dlclose(plugin->handle), 0);
    cr_assert_null(dlopen(path, RTLD_NOW | RTLD_NOLOAD), "%s stays", path);
}

/* Visits every known call site. */
static void visit_all(void)
{
    trace_disable();
    trace_enable();
    log_info("visited all call sites");
}

static void use(const char *path, int number)
{
    struct plugin plugin = load(path);

    cr_expect_eq(plugin.work(number), number + 1);
    unload(&plugin, path);
    visit_all();
}

TEST_LOG(loading, unloads_and_loads_again)
{
    for (int i = 0; i < 3; i++) {
        use("./one.so", i);
        use("./other.so", 10 + i);
        use("./cxx.so", 20 + i);
    }
    log_expect_count(3, "other works on 1");
    log_expect_span_count(9, "plugin_work");
}

static void outlive(const char *path)
{
    struct plugin plugin = load(path);
    struct trace_span_ref span = plugin.begin();

    unload(&plugin, path);
    visit_all();
    {
        trace_span_enter(span);
        log_info("in a span of unloaded code");
    }
    trace_span_end(span);
}

TEST_LOG(loading, spans_outlive_their_object)
{
    outlive("./one.so");
    outlive("./cxx.so");
    use("./other.so", 1);
}

TEST_LOG(loading, fails_after_unloading)
{
    use("./one.so", 5);
    cr_assert(0, "after all that");
}
