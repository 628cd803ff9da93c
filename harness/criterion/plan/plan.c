/* plan.c: which tests run, and parameter instances as tests of their own.
 *
 * Criterion expands parameters one by one while it runs and gives every
 * instance the same name. Here each becomes a test, "name[07]", before the run.
 * Criterion still asks for parameters, one instance at a time; `order` has the
 * instances in the order of Criterion's set.
 */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "trace/base/containers.h"

struct instance {
    struct criterion_test_extra_data *data;
    char *name, *identifier;
    void *parameter;
    size_t size;
};

/* A test that is temporarily out of the set. */
struct held {
    struct criterion_ordered_set_node *node;
    struct criterion_suite_set *suite;
};

struct group {
    struct criterion_test_params params;
    struct group *next;
};

static struct instance *instances;
static size_t instance_count, instance_capacity;
static size_t *order; /* of the instances that run, in the set's order */
static size_t order_count, next_in_order;
static struct criterion_ordered_set_node *taken; /* removed from the set */
static struct held *held;
static size_t held_count, held_capacity;
static char nearest[512];
static struct group *groups;

/* Criterion's FOREACH_SET declares names of its own, so walk by hand. */
typedef void each_test(struct criterion_ordered_set_node **,
                       struct criterion_suite_set *, struct criterion_test *,
                       void *);

static void each(struct criterion_test_set *set, each_test *visit,
                 void *context)
{
    for (struct criterion_ordered_set_node *s = set->suites->first; s;
         s = s->next) {
        struct criterion_suite_set *suite = (void *)(s + 1);
        struct criterion_ordered_set_node **t;

        for (t = suite->tests ? &suite->tests->first : NULL; t && *t;) {
            struct criterion_ordered_set_node *node = *t;

            visit(t, suite, (void *)(node + 1), context);
            if (*t == node) /* unless visit has taken it out */
                t = &node->next;
        }
    }
}

/* ---- Expanding ---- */

static struct criterion_test_params next_parameter(void)
{
    struct criterion_test_params one = {0, NULL, 0, NULL};

    if (next_in_order < order_count) {
        const struct instance *instance = &instances[order[next_in_order++]];

        one.size = instance->size;
        one.params = instance->parameter;
        one.length = 1;
    }
    return one;
}

static int digits(size_t length)
{
    int count = 1;

    for (size_t last = length ? length - 1 : 0; last >= 10; last /= 10)
        count++;
    return count;
}

static void free_instance(struct instance *instance)
{
    free(instance->data);
    free(instance->name);
    free(instance->identifier);
}

/* Adds an instance to the set as a test called `name`, which it takes, with its
 * own data; false without memory. */
static bool add_instance(struct criterion_test_set *set,
                         const struct criterion_test *test,
                         struct instance instance, char *name)
{
    bool room =
        TRACE_ARRAY_RESERVE(instances, instance_capacity, instance_count + 1);

    instance.name = name;
    instance.data = malloc(sizeof(*instance.data));
    if (!name ||
        asprintf(&instance.identifier, "%s/%s", test->category, name) < 0)
        instance.identifier = NULL;
    if (!room || !instance.data || !instance.identifier) {
        free_instance(&instance);
        return false;
    }
    *instance.data = *test->data;
    instance.data->identifier_ = instance.identifier;
    instances[instance_count++] = instance;

    struct criterion_test one = {instance.name, test->category, test->test,
                                 instance.data};

    criterion_register_test(set, &one);
    return true;
}

static bool add_parameter(struct criterion_test_set *set,
                          const struct criterion_test *test,
                          const struct criterion_test_params *params, size_t i)
{
    struct instance instance = {
        .parameter = (char *)params->params + i * params->size,
        .size = params->size,
    };
    char *name;

    if (asprintf(&name, "%s[%0*zu]", test->name, digits(params->length), i) < 0)
        name = NULL;
    if (!add_instance(set, test, instance, name))
        return false;
    instances[instance_count - 1].data->param_ = next_parameter;
    return true;
}

/* Removes a test from its suite, but keeps its memory: that is Criterion's. */
static void unlink_test(struct criterion_ordered_set_node **at,
                        struct criterion_suite_set *suite)
{
    struct criterion_ordered_set_node *node = *at;

    *at = node->next;
    node->next = taken;
    taken = node;
    suite->tests->size--;
}

struct found {
    struct criterion_test *tests;
    size_t count, capacity;
};

static void take(struct criterion_ordered_set_node **at,
                 struct criterion_suite_set *suite,
                 const struct criterion_test *test, struct found *found)
{
    if (!TRACE_ARRAY_RESERVE(found->tests, found->capacity, found->count + 1))
        return;
    found->tests[found->count++] = *test;
    unlink_test(at, suite);
}

static bool enabled(const struct criterion_test *test,
                    const struct criterion_suite_set *suite)
{
    return !test->data->disabled &&
           !(suite->suite.data && suite->suite.data->disabled);
}

/* Removes parameterized tests from the set. */
static void take_out(struct criterion_ordered_set_node **at,
                     struct criterion_suite_set *suite,
                     struct criterion_test *test, void *context)
{
    if (test->data->kind_ == CR_TEST_PARAMETERIZED && test->data->param_ &&
        test->data->param_ != next_parameter && enabled(test, suite))
        take(at, suite, test, context);
}

static void expand(struct criterion_test_set *set,
                   const struct criterion_test *test)
{
    struct group *group = calloc(1, sizeof(*group));

    if (!group)
        return;
    group->params = test->data->param_();
    group->next = groups;
    groups = group;
    for (size_t i = 0; i < group->params.length; i++)
        if (!add_parameter(set, test, &group->params, i))
            test_log_notice("out of memory: %s/%s[%zu] does not run",
                            test->category, test->name, i);
}

void test_log_plan_expand(struct criterion_test_set *set)
{
    struct found found = {.count = 0};

    each(set, take_out, &found);
    set->tests -= found.count;
    for (size_t i = 0; i < found.count; i++)
        expand(set, &found.tests[i]);
    free(found.tests);
}

static void order_instance(struct criterion_ordered_set_node **at,
                           struct criterion_suite_set *suite,
                           struct criterion_test *test, void *context)
{
    (void)at;
    (void)suite;
    (void)context;
    if (test->data->param_ != next_parameter || test->data->disabled)
        return;
    for (size_t i = 0; i < instance_count; i++)
        if (instances[i].data == test->data)
            order[order_count++] = i;
}

void test_log_plan_seal(struct criterion_test_set *set)
{
    free(order);
    order = calloc(instance_count + 1, sizeof(*order));
    order_count = next_in_order = 0;
    if (order)
        each(set, order_instance, NULL);
}

static void free_groups(void)
{
    while (groups) {
        struct group *group = groups;

        groups = group->next;
        if (group->params.cleanup)
            group->params.cleanup(&group->params);
        free(group);
    }
}

void test_log_plan_free(void)
{
    free_groups();
    for (size_t i = 0; i < instance_count; i++)
        free_instance(&instances[i]);
    free(instances);
    free(order);
    free(held);
    instances = NULL;
    order = NULL;
    held = NULL;
    held_count = held_capacity = 0;
    instance_count = instance_capacity = order_count = 0;
}

/* ---- Repeating ---- */

/* Adds a test "name#WORD012" like another one, with its own data. */
static bool add_repetition(struct criterion_test_set *set,
                           const struct criterion_test *test, const char *word,
                           size_t number, int width)
{
    struct instance instance = {.size = 0};
    char *name;

    for (size_t i = 0; i < instance_count; i++)
        if (instances[i].data == test->data) {
            instance.parameter = instances[i].parameter;
            instance.size = instances[i].size;
        }
    if (asprintf(&name, "%s#%s%0*zu", test->name, word, width, number) < 0)
        name = NULL;
    return add_instance(set, test, instance, name);
}

/* Removes all tests that are not disabled. */
static void take_enabled(struct criterion_ordered_set_node **at,
                         struct criterion_suite_set *suite,
                         struct criterion_test *test, void *context)
{
    if (enabled(test, suite))
        take(at, suite, test, context);
}

void test_log_plan_repeat(struct criterion_test_set *set, size_t times)
{
    struct found found = {.count = 0};

    if (times < 2)
        return;
    each(set, take_enabled, &found);
    set->tests -= found.count;
    for (size_t i = 0; i < found.count; i++)
        for (size_t n = 1; n <= times; n++)
            if (!add_repetition(set, &found.tests[i], "", n, digits(times + 1)))
                test_log_notice("out of memory: %s/%s#%zu does not run",
                                found.tests[i].category, found.tests[i].name,
                                n);
    free(found.tests);
}

void test_log_plan_mark(struct criterion_test_set *set,
                        const struct test_log_rank *rank)
{
    struct found found = {.count = 0};

    each(set, take_enabled, &found);
    set->tests -= found.count;
    for (size_t i = 0; i < found.count; i++)
        if (!add_repetition(set, &found.tests[i], "rank", rank->index,
                            digits(rank->total)))
            test_log_notice("out of memory: %s/%s does not run",
                            found.tests[i].category, found.tests[i].name);
    free(found.tests);
}

/* ---- Selecting ---- */

struct selection {
    const struct test_log_options *options;
    char **names; /* of all tests, for suggestions */
    size_t name_count;
    bool *exact; /* by pattern: it is a test's full name */
    size_t count;
};

static bool is_name(const char *pattern, const struct criterion_test *test)
{
    size_t size = strlen(test->category);

    return !strncmp(pattern, test->category, size) && pattern[size] == '/' &&
           !strcmp(pattern + size + 1, test->name);
}

/* "suite/test[07]" is that test; as an extglob it would match another one. */
static void find_exact(struct criterion_ordered_set_node **at,
                       struct criterion_suite_set *suite,
                       struct criterion_test *test, void *context)
{
    struct selection *selection = context;

    (void)at;
    (void)suite;
    for (size_t i = 0; i < selection->options->pattern_count; i++)
        selection->exact[i] |= is_name(selection->options->patterns[i], test);
}

static bool has_word(const struct test_log_options *options,
                     const struct criterion_test *test)
{
    char name[512];

    snprintf(name, sizeof(name), "%s/%s", test->category, test->name);
    return test_log_plan_has_word(options, name);
}

/* Tests that are not selected are removed, so that no report calls them
 * skipped. */
static void select_test(struct criterion_ordered_set_node **at,
                        struct criterion_suite_set *suite,
                        struct criterion_test *test, void *context)
{
    struct selection *selection = context;
    char **patterns = selection->options->patterns;
    bool selected = !test_log_options_select(selection->options) ||
                    has_word(selection->options, test);

    for (size_t i = 0; i < selection->options->pattern_count; i++)
        selected |= selection->exact[i]
                        ? is_name(patterns[i], test)
                        : test_log_pattern_matches(patterns[i], test->category,
                                                   test->name);
    if (selected)
        selection->count++;
    else
        unlink_test(at, suite);
}

static void collect_name(struct criterion_ordered_set_node **at,
                         struct criterion_suite_set *suite,
                         struct criterion_test *test, void *context)
{
    struct selection *selection = context;
    char *name;

    (void)at;
    (void)suite;
    if (asprintf(&name, "%s/%s", test->category, test->name) < 0)
        return;
    selection->names[selection->name_count++] = name;
}

/* Suggests a pattern for a word that is a suite or a part of tests' names. */
static bool find_part(const struct selection *selection, const char *word)
{
    size_t size = strlen(word);
    bool part = false;

    for (size_t i = 0; i < selection->name_count; i++) {
        const char *name = selection->names[i], *test = strchr(name, '/') + 1;

        if (!strncmp(name, word, size) && name + size + 1 == test) {
            snprintf(nearest, sizeof(nearest), "'%s/*'", word);
            return true;
        }
        part |= strstr(test, word) != NULL;
    }
    if (part)
        snprintf(nearest, sizeof(nearest), "'*/*%s*'", word);
    return part;
}

/* Finds the test whose name, without its suite, is nearly the word. */
static const char *find_test(const struct selection *selection,
                             const char *word)
{
    const char **tests = calloc(selection->name_count + 1, sizeof(*tests));
    const char *suggestion = NULL, *full = NULL;

    for (size_t i = 0; tests && i < selection->name_count; i++)
        tests[i] = strchr(selection->names[i], '/') + 1;
    if (tests)
        suggestion = log_nearest(word, tests);
    for (size_t i = 0; suggestion && i < selection->name_count; i++)
        if (tests[i] == suggestion)
            full = selection->names[i];
    free(tests);
    return full;
}

static bool find_near(const struct selection *selection, const char *pattern)
{
    bool word = pattern[0] && !strpbrk(pattern, "/*?[]()|!@+\\'");
    const char *suggestion;

    if (word && find_part(selection, pattern))
        return true;
    suggestion = log_nearest(pattern, (const char *const *)selection->names);
    if (!suggestion && word)
        suggestion = find_test(selection, pattern);
    snprintf(nearest, sizeof(nearest), "%s", suggestion ? suggestion : "");
    return suggestion;
}

/* Suggests --filter for a word that is a pattern. */
static bool find_pattern(const struct selection *selection, const char *word)
{
    if (!strpbrk(word, "*?[(") || test_log_pattern_fault(word))
        return false;
    for (size_t i = 0; i < selection->name_count; i++)
        if (!fnmatch(word, selection->names[i], FNM_EXTMATCH)) {
            snprintf(nearest, sizeof(nearest), "--filter='%s'", word);
            return true;
        }
    return false;
}

static void find_nearest(const struct selection *selection)
{
    const struct test_log_options *options = selection->options;

    nearest[0] = '\0';
    if (!selection->names)
        return;
    for (size_t i = 0; i < options->pattern_count; i++)
        if (find_near(selection, options->patterns[i]))
            return;
    for (size_t i = 0; i < options->word_count; i++)
        if (find_pattern(selection, options->words[i]) ||
            find_near(selection, options->words[i]))
            return;
}

static void free_names(const struct selection *selection)
{
    for (size_t i = 0; i < selection->name_count; i++)
        free(selection->names[i]);
    free(selection->names);
}

const char *test_log_plan_nearest(void)
{
    return nearest[0] ? nearest : NULL;
}

size_t test_log_plan_select(struct criterion_test_set *set,
                            const struct test_log_options *options)
{
    struct selection selection = {options, NULL, 0, NULL, 0};

    selection.exact = calloc(options->pattern_count + 1, sizeof(bool));
    if (!selection.exact) {
        if (test_log_options_select(options))
            test_log_notice("out of memory: --filter has no effect");
        return set->tests;
    }
    selection.names = calloc(set->tests + 1, sizeof(char *));
    each(set, find_exact, &selection);
    if (selection.names && test_log_options_select(options))
        each(set, collect_name, &selection);
    each(set, select_test, &selection);
    if (!selection.count)
        find_nearest(&selection);
    free_names(&selection);
    free(selection.exact);
    set->tests = selection.count;
    return selection.count;
}

struct search {
    const char *pattern;
    bool found;
};

static void find_match(struct criterion_ordered_set_node **at,
                       struct criterion_suite_set *suite,
                       struct criterion_test *test, void *context)
{
    struct search *search = context;

    (void)at;
    (void)suite;
    search->found =
        search->found || is_name(search->pattern, test) ||
        test_log_pattern_matches(search->pattern, test->category, test->name);
}

static void find_word(struct criterion_ordered_set_node **at,
                      struct criterion_suite_set *suite,
                      struct criterion_test *test, void *context)
{
    struct search *search = context;
    struct test_log_options one = {.words = &search->pattern, .word_count = 1};

    (void)at;
    (void)suite;
    search->found = search->found || has_word(&one, test);
}

enum { UNMATCHED_MAX = 10 }; /* how many are printed */

/* Returns 0 if a test of the set matches. Otherwise returns 1 and, for the
 * first ones, prints that none does. */
static size_t count_unmatched(struct criterion_test_set *set, each_test *find,
                              const char *what, const char *text, size_t before)
{
    struct search search = {text, false};

    each(set, find, &search);
    if (!search.found && before < UNMATCHED_MAX)
        test_log_notice("no test matched the %s %s", what, text);
    return !search.found;
}

void test_log_plan_print_unmatched(struct criterion_test_set *set,
                                   const struct test_log_options *options)
{
    size_t count = 0;

    for (size_t i = 0; i < options->pattern_count; i++)
        count += count_unmatched(set, find_match, "filter",
                                 options->patterns[i], count);
    for (size_t i = 0; i < options->word_count; i++)
        count +=
            count_unmatched(set, find_word, "word", options->words[i], count);
    if (count > UNMATCHED_MAX)
        test_log_notice("%zu more filters matched no test",
                        count - UNMATCHED_MAX);
}

/* ---- Keeping and holding back ---- */

struct keeping {
    test_log_wanted *wanted;
    size_t count;
};

static void keep_wanted(struct criterion_ordered_set_node **at,
                        struct criterion_suite_set *suite,
                        struct criterion_test *test, void *context)
{
    struct keeping *keeping = context;

    if (keeping->wanted(test))
        keeping->count++;
    else
        unlink_test(at, suite);
}

void test_log_plan_keep(struct criterion_test_set *set, test_log_wanted *wanted)
{
    struct keeping keeping = {wanted, 0};

    each(set, keep_wanted, &keeping);
    set->tests = keeping.count;
}

static void hold_wanted(struct criterion_ordered_set_node **at,
                        struct criterion_suite_set *suite,
                        struct criterion_test *test, void *context)
{
    struct keeping *keeping = context;
    struct criterion_ordered_set_node *node = *at;

    if (!keeping->wanted(test) ||
        !TRACE_ARRAY_RESERVE(held, held_capacity, held_count + 1)) {
        keeping->count++;
        return;
    }
    *at = node->next;
    suite->tests->size--;
    held[held_count++] = (struct held){node, suite};
}

size_t test_log_plan_hold(struct criterion_test_set *set,
                          test_log_wanted *wanted)
{
    struct keeping keeping = {wanted, 0};

    each(set, hold_wanted, &keeping);
    set->tests = keeping.count;
    return held_count;
}

void test_log_plan_release(struct criterion_test_set *set)
{
    set->tests += held_count;
    while (held_count) {
        struct held last = held[--held_count];

        last.node->next = last.suite->tests->first;
        last.suite->tests->first = last.node;
        last.suite->tests->size++;
    }
}

static char **wanted_names;

/* Repetitions, "name#1", have the name of their test. */
static bool is_one_of_them(const struct criterion_test *test)
{
    size_t size = strlen(test->category);
    size_t base = test_log_base_size(test->name);

    for (char **name = wanted_names; *name; name++)
        if (!strncmp(*name, test->category, size) && (*name)[size] == '/' &&
            !strncmp(*name + size + 1, test->name, base) &&
            !(*name)[size + 1 + base])
            return true;
    return false;
}

void test_log_plan_only(struct criterion_test_set *set, char **names)
{
    wanted_names = names;
    if (names)
        test_log_plan_keep(set, is_one_of_them);
}

static void find_wanted(struct criterion_ordered_set_node **at,
                        struct criterion_suite_set *suite,
                        struct criterion_test *test, void *found)
{
    (void)at;
    (void)suite;
    *(bool *)found |= is_one_of_them(test);
}

bool test_log_plan_has(struct criterion_test_set *set, char **names)
{
    bool found = false;

    wanted_names = names;
    each(set, find_wanted, &found);
    return found;
}

static bool is_wanted_test(struct criterion_ordered_set_node *node)
{
    return is_one_of_them((const struct criterion_test *)(node + 1));
}

static bool has_wanted_test(struct criterion_ordered_set_node *node)
{
    const struct criterion_suite_set *suite = (const void *)(node + 1);
    struct criterion_ordered_set_node *first =
        suite->tests ? suite->tests->first : NULL;

    return first && is_wanted_test(first);
}

typedef bool is_first(struct criterion_ordered_set_node *);

/* Moves some nodes to the beginning; apart from that, the order stays. */
static void move_first(struct criterion_ordered_set *nodes, is_first *comes)
{
    struct criterion_ordered_set_node *first = NULL, **end = &first;
    struct criterion_ordered_set_node **at = &nodes->first;

    while (*at) {
        struct criterion_ordered_set_node *node = *at;

        if (!comes(node)) {
            at = &node->next;
            continue;
        }
        *at = node->next;
        *end = node;
        end = &node->next;
    }
    *end = nodes->first;
    nodes->first = first;
}

void test_log_plan_first(struct criterion_test_set *set, char **names)
{
    wanted_names = names;
    for (struct criterion_ordered_set_node *node = set->suites->first;
         names && node; node = node->next) {
        struct criterion_suite_set *suite = (void *)(node + 1);

        if (suite->tests)
            move_first(suite->tests, is_wanted_test);
    }
    if (names)
        move_first(set->suites, has_wanted_test);
}
