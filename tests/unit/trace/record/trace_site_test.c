/* trace_site_test.c: finds call sites, names them, and turns them on and off.
 */
#include "tests/support/support.h"

#include "trace/format.h"
#include "trace/record/recorder.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

TestSuite(trace_site, .init = test_folder);

Test(trace_site, derives_the_default_target_from_the_path)
{
    static const struct {
        const char *file, *target;
    } rows[] = {
        {"kv/store.c", "kv::store"},
        {"store.c", "store"},
        {"./store.c", "store"},
        {"../../kv/store.c", "kv::store"},
        {".././kv/store.c", "kv::store"},
        {"a/b/c/d.cc", "a::b::c::d"},
        {"/usr/src/kv/store.c", "kv::store"},
        {"/store.c", "store"},
        {"/a/b.c", "a::b"},
        {"main", "main"},
        {"dir.d/main", "dir.d::main"},
        {"a.test.c", "a.test"},
        {".hidden", ".hidden"},
        {"", ""},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char target[64] = "?";
        size_t length = trace_target(rows[i].file, target, sizeof(target));

        cr_expect_str_eq(target, rows[i].target, "%s: %s", rows[i].file,
                         target);
        cr_expect_eq(length, strlen(target));
    }
}

Test(trace_site, cuts_a_long_target)
{
    for (size_t size = 0; size < 40; size++) {
        char target[40];

        memset(target, '#', sizeof(target));

        size_t length = trace_target("a/b/c/d/e/f/g/h/i.c", target, size);

        cr_assert(length == 0 || length < size);
        cr_assert(size == 0 || target[length] == '\0');
        cr_assert_eq(target[size], '#');
    }
}

/* ---- Interest ---- */

static void touch(void)
{
    trace_event(INFO, "first of these");
    trace_event(DEBUG, "second of these");
    trace_record(trace_span_current(), ("field", 1));
}

struct found {
    size_t first, second, on, fields;
};

static void look(struct trace_site *site, void *context)
{
    struct found *found = context;
    bool first = site->name && !strcmp(site->name, "first of these");
    bool second = site->name && !strcmp(site->name, "second of these");

    found->first += first;
    found->second += second;
    found->on += (first || second) && site->interest;
    found->fields += site->kind == TRACE_SITE_FIELDS && site->interest;
}

static struct found found(void)
{
    struct found found = {0};

    trace_site_each(look, &found);
    return found;
}

static unsigned wants_info(struct trace_site *site)
{
    return site->level <= TRACE_LEVEL_INFO ? TRACE_ALWAYS : 0;
}

static unsigned wants_none(struct trace_site *site)
{
    (void)site;
    return 0;
}

Test(trace_site, finds_all_sites_of_the_program)
{
    touch();
    cr_expect_eq(found().first, 1);
    cr_expect_eq(found().second, 1);
    cr_expect_eq(found().on, 0);
}

Test(trace_site, asks_the_subscriber_which_sites_are_on)
{
    static const struct trace_subscriber info = {.interest = wants_info};
    static const struct trace_subscriber none = {.interest = wants_none};
    static const struct trace_subscriber all = {.interest = NULL};

    trace_subscribe(&info);
    cr_expect_eq(found().on, 0);
    test_record();
    cr_expect_eq(found().on, 1);
    trace_subscribe(&none);
    cr_expect_eq(found().on, 0);
    cr_expect_gt(found().fields, 0);
    trace_subscribe(&all);
    cr_expect_eq(found().on, 2);
    trace_disable();
    cr_expect_eq(found().on, 0);
    trace_subscribe(&all);
    cr_expect_eq(found().on, 0);
    trace_enable();
    trace_subscribe(NULL);
    cr_expect_eq(found().on, 2);
    trace_close();
    cr_expect_eq(found().on, 0);
    cr_expect_eq(found().fields, 0);
}

/* ---- Loaded and unloaded objects ---- */

static struct trace_site loaded_site =
    TEST_SITE(EVENT, INFO, "first of these", NULL, NULL, 0);
static struct trace_site *loaded_sites[] = {&loaded_site};

Test(trace_site, turns_on_the_sites_of_an_object_loaded_later)
{
    struct trace_module module = {0};

    test_record();
    trace_module_register(&module, loaded_sites, loaded_sites + 1, 0);
    trace_module_register(&module, loaded_sites, loaded_sites + 1, 0);
    cr_expect(loaded_site.interest);
    cr_expect_str_eq(loaded_site.target, "src::lib");
    cr_expect_eq(found().first, 2);
    trace_module_forget(&module);
    cr_expect_eq(found().first, 1);
    trace_module_forget(&module);
    trace_close();
}

Test(trace_site, keeps_the_most_verbose_level_of_a_module_s_files)
{
    struct trace_module module = {0};

    trace_module_register(&module, loaded_sites, loaded_sites + 1,
                          TRACE_LEVEL_WARN);
    cr_expect_eq(module.static_max, TRACE_LEVEL_WARN);
    trace_module_register(&module, loaded_sites, loaded_sites + 1,
                          TRACE_LEVEL_DEBUG);
    trace_module_register(&module, loaded_sites, loaded_sites + 1,
                          TRACE_LEVEL_ERROR);
    cr_expect_eq(module.static_max, TRACE_LEVEL_DEBUG);
    cr_expect_geq(trace_static_max(), TRACE_LEVEL_DEBUG);
    trace_module_forget(&module);
}

Test(trace_site, registers_a_site_once)
{
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "first of these", "m", NULL, 0);

    site.interest = TRACE_UNREGISTERED;
    cr_expect_not(trace_site_ask_(&site));
    cr_expect_eq(site.interest, 0);
    test_record();
    cr_expect_eq(site.interest, TRACE_ALWAYS);
    cr_expect(trace_site_ask_(&site));
    cr_expect_eq(found().first, 2);
}

/* ---- Signals ---- */

static struct trace_site handled =
    TEST_SITE(EVENT, INFO, "of a handler", "m", NULL, 0);

static void on_signal(int number)
{
    (void)number;
    trace_site_ask_(&handled);
}

static unsigned raises(struct trace_site *site)
{
    (void)site;
    raise(SIGUSR1);
    return TRACE_ALWAYS;
}

Test(trace_site, delays_a_signal_until_its_thread_holds_no_lock)
{
    static const struct trace_subscriber subscriber = {.interest = raises};

    alarm(10);
    handled.interest = TRACE_UNREGISTERED;
    signal(SIGUSR1, on_signal);
    trace_subscribe(&subscriber);
    test_record();
    cr_expect_eq(handled.interest, TRACE_ALWAYS);
    signal(SIGUSR1, SIG_IGN);
    cr_expect(trace_site_ask_(&handled));
}
