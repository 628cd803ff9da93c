/* log_laws_test.c: checks laws of the filter language with random filters on
 * random spans and events.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/filter/filter.h"
#include "log/replay/replay.h"

#define COUNT(rows) (sizeof(rows) / sizeof(*(rows)))
#define PICK(list)  ((list)[test_below(COUNT(list))])

enum { FIELDS = 4, SPANS = 4, PIECES = 8, ROUNDS = 4000 };

/* ---- Random filters ---- */

/* In a generated directive, white space may replace a GAP. */
#define GAP "\x01"

static const char *const targets[] = {
    "net", "net::tcp", "n", "db", "dbx", "zzz", "-", "\xc3\xa9",
};
static const char *const span_names[] = {"s", "request", "t u"};
static const char *const names[] = {"id", "user", "f", "message"};
static const char *const levels[] = {
    "off", "error", "WARN", "3", "debug", "trace", "05",
};

/* Adds "=LEVEL", or nothing. */
static void add_level(struct trace_text *out, bool needed)
{
    if (needed || test_below(4))
        trace_text_printf(out, "=" GAP "%s" GAP, PICK(levels));
}

static void add_field(struct trace_text *out, bool old)
{
    static const char *const values[] = {
        "5", "-5", "0.5", "true", "root", "r.*t", "", "nan", "\"root\"",
    };
    static const char *const modern[] = {
        "5", "6", "0.5", "root", "\"a, b}=c\"", "\"5\"", "true", "0x5",
    };
    static const char *const signs[] = {"=", "!=", "<", "<=", ">", ">=", "~="};

    trace_text_printf(out, GAP "%s" GAP, PICK(names));
    if (old && test_below(3))
        trace_text_printf(out, "=" GAP "%s" GAP, PICK(values));
    else if (!old && test_below(4))
        trace_text_printf(out, "%s" GAP "%s" GAP, PICK(signs), PICK(modern));
}

static void add_fields(struct trace_text *out, bool old)
{
    trace_text_string(out, "{");
    add_field(out, old);
    if (!old && !test_below(3)) {
        trace_text_string(out, ",");
        add_field(out, old);
    }
    trace_text_string(out, "}" GAP);
}

static void add_span(struct trace_text *out, bool old)
{
    bool named = test_below(3);

    trace_text_printf(out, "[" GAP "%s" GAP, named ? PICK(span_names) : "");
    if (!named || test_below(2))
        add_fields(out, old);
    trace_text_string(out, "]" GAP);
}

/* Adds a directive of EnvFilter's. */
static void add_old(struct trace_text *out)
{
    switch (test_below(6)) {
    case 0:
        trace_text_string(out, PICK(levels));
        return;
    case 1:
        trace_text_printf(out, "%s" GAP, PICK(targets));
        break;
    case 2:
        trace_text_string(out, PICK(targets));
        /* fall through */
    default:
        add_span(out, true);
        break;
    case 3:
        trace_text_printf(out, "%s" GAP, PICK(targets));
        add_level(out, true);
        return;
    }
    add_level(out, false);
}

/* Adds a directive of our own that enables something. */
static void add_modern(struct trace_text *out, bool needs_level)
{
    static const char *const globs[] = {
        "*", "net::", "n?t*", "*::tcp", "d*x", "zzz*",
    };
    static const char *const regexes[] = {
        "ready", "^re.dy$", "a, b=c", "\\/", "[{,]", "",
    };

    switch (test_below(4)) {
    case 0:
        trace_text_printf(out, "~" GAP "%s" GAP, PICK(globs));
        break;
    case 1:
        trace_text_printf(out, "~" GAP "%s" GAP, PICK(globs));
        add_span(out, false);
        break;
    case 2:
        trace_text_printf(out, "/%s/" GAP, PICK(regexes));
        break;
    default:
        add_fields(out, false);
        break;
    }
    add_level(out, needs_level);
}

/* Adds an exclusion ("!", without a level) or a cap ("^", with a level). */
static void add_taker(struct trace_text *out)
{
    bool caps = test_below(2);
    struct trace_text matched = {0};

    if (test_below(2))
        add_modern(&matched, caps);
    else
        do {
            unsigned level;

            trace_text_clear(&matched);
            add_old(&matched);
            if (!log_level_of(matched.data, &level) || caps)
                break;
        } while (true);
    if (caps && !strchr(matched.data, '='))
        trace_text_string(&matched, "=info");
    trace_text_printf(out, "%s" GAP, caps ? "^" : "!");
    trace_text_string(out, matched.data);
    trace_text_free(&matched);
}

enum kind { OLD, MODERN, TAKER, ANY };

/* Returns a valid directive, to be freed; tries until one parses. */
static char *make_piece(enum kind kind)
{
    for (;;) {
        struct trace_text piece = {0}, said = {0};
        enum kind made = kind == ANY ? (enum kind)test_below(3) : kind;

        if (made == OLD)
            add_old(&piece);
        else if (made == MODERN)
            add_modern(&piece, false);
        else
            add_taker(&piece);

        struct trace_text plain = {0};

        for (size_t i = 0; i < piece.size; i++)
            if (piece.data[i] != *GAP)
                trace_text_char(&plain, piece.data[i]);
        log_filter_free(log_filter_parse(plain.data, NULL, "LOG", &said));
        trace_text_free(&plain);

        bool good = !said.size;

        trace_text_free(&said);
        if (good)
            return piece.data;
        trace_text_free(&piece);
    }
}

struct recipe {
    char *pieces[PIECES];
    size_t count;
};

static void make_recipe(struct recipe *recipe, size_t least, enum kind kind)
{
    recipe->count = least + test_below((uint32_t)(PIECES - 2 - least));
    for (size_t i = 0; i < recipe->count; i++)
        recipe->pieces[i] = make_piece(kind);
}

static void free_recipe(struct recipe *recipe)
{
    for (size_t i = 0; i < recipe->count; i++)
        free(recipe->pieces[i]);
    recipe->count = 0;
}

/* Returns the filter's text, with white space in the gaps if `wide`. */
static char *write_out(const struct recipe *recipe, bool wide)
{
    static const char *const spaces[] = {"", " ", "\t ", "\u3000", "\n"};
    struct trace_text text = {0};

    trace_text_string(&text, "");
    for (size_t i = 0; i < recipe->count; i++) {
        trace_text_string(&text, wide ? PICK(spaces) : "");
        for (const char *c = recipe->pieces[i]; *c; c++)
            if (*c != *GAP)
                trace_text_char(&text, *c);
            else if (wide)
                trace_text_string(&text, PICK(spaces));
        trace_text_string(&text, wide ? PICK(spaces) : "");
        trace_text_string(&text, i + 1 < recipe->count ? "," : "");
    }
    return text.data ? text.data : strdup("");
}

/* ---- Random scenes ---- */

struct thing {
    struct trace_site site;
    const char *names[FIELDS];
    struct trace_value values[FIELDS], late[FIELDS];
};

struct scene {
    struct thing spans[SPANS], event;
    size_t count;
};

static struct trace_value make_value(void)
{
    switch (test_below(12)) {
    case 0:
        return trace_i64_(5);
    case 1:
        return trace_i64_(-5);
    case 2:
        return trace_u64_(6);
    case 3:
        return trace_f64_(0.5);
    case 4:
        return trace_f64_(NAN);
    case 5:
        return trace_bool(true);
    case 6:
        return trace_bool(false);
    case 7:
        return trace_string("root", 4);
    case 8:
        return trace_string("a, b}=c", 7);
    case 9:
        return trace_errno(ENOENT);
    case 10:
        return trace_string("", 0);
    default:
        return trace_empty();
    }
}

static void make_thing(struct thing *thing, enum trace_site_kind kind)
{
    static const char *const where[] = {
        "net", "net::tcp", "network", "db", "dbx", "", "\xc3\xa9t",
    };

    memset(thing, 0, sizeof(*thing));
    thing->site.kind = (uint8_t)kind;
    thing->site.level = (uint8_t)(1 + test_below(5));
    thing->site.target = PICK(where);
    thing->site.name = kind == TRACE_SITE_SPAN ? PICK(span_names) : "ready";
    thing->site.fields = thing->names;
    for (size_t i = 0; i < FIELDS; i++)
        if (test_below(3) && strcmp(names[i], "message") != 0) {
            size_t at = thing->site.field_count++;

            thing->names[at] = names[i];
            thing->values[at] = make_value();
            thing->late[at] = make_value();
        }
}

static void make_scene(struct scene *scene)
{
    scene->count = test_below(SPANS);
    for (size_t i = 0; i < scene->count; i++)
        make_thing(&scene->spans[i], TRACE_SITE_SPAN);
    make_thing(&scene->event, TRACE_SITE_EVENT);
}

/* ---- Judging ---- */

/* A bit for each span that is shown and for the event. */
enum { EVENT_BIT = 1 << SPANS };

static unsigned enter(const struct log_filter *filter,
                      const struct thing *thing, struct trace_scope *inside)
{
    struct log_fields fields = {&thing->site, thing->site.field_count,
                                thing->values, NULL};
    struct log_fields late = {&thing->site, thing->site.field_count,
                              thing->late, NULL};
    struct trace_table tracked = {0};
    struct trace_scope own;
    struct log_verdict verdict;
    unsigned shown;

    cr_assert(log_verdict_make(&verdict, filter, &thing->site));

    struct log_span *span = log_tracked_add(&tracked, 1, &verdict);

    shown = log_span_begin(span, *inside, &fields);
    log_span_fields(span, &late);
    own = log_span_scope(span);
    inside->adds = own.adds > inside->adds ? own.adds : inside->adds;
    inside->takes = own.takes > inside->takes ? own.takes : inside->takes;
    cr_assert(!shown || log_verdict_reaches(&verdict));
    cr_assert(!shown || thing->site.level <= log_filter_hint(filter) ||
              verdict.count);
    log_tracked_free(&tracked);
    log_verdict_free(&verdict);
    return shown;
}

static unsigned judge(const struct log_filter *filter,
                      const struct scene *scene)
{
    const struct thing *event = &scene->event;
    struct log_fields fields = {&event->site, event->site.field_count,
                                event->values, "ready"};
    struct trace_scope inside = {0, 0};
    struct log_verdict verdict;
    unsigned outcome = 0;

    for (size_t i = 0; i < scene->count; i++)
        outcome |= enter(filter, &scene->spans[i], &inside) << i;
    cr_assert(log_verdict_make(&verdict, filter, &event->site));
    if (log_verdict_event(&verdict, inside, &fields)) {
        outcome |= EVENT_BIT;
        cr_assert(log_verdict_reaches(&verdict));
        cr_assert_leq(event->site.level, log_filter_hint(filter));
    }
    log_verdict_free(&verdict);
    return outcome;
}

static struct log_filter *parse(const char *text, const char *fallback)
{
    struct trace_text said = {0};
    struct log_filter *filter = log_filter_parse(text, fallback, "LOG", &said);

    cr_assert_not_null(filter);
    cr_assert_eq(said.size, 0, "%s", said.data);
    trace_text_free(&said);
    return filter;
}

/* Judges the same scenes by two filters and compares the outcomes. */
enum law { SAME, NO_MORE, NO_LESS };

static void compare(const char *a, const char *b, const char *fallback,
                    enum law law)
{
    struct log_filter *one = parse(a, fallback), *other = parse(b, fallback);

    for (int i = 0; i < 8; i++) {
        struct scene scene;

        make_scene(&scene);

        unsigned x = judge(one, &scene), y = judge(other, &scene);

        cr_assert(law == SAME      ? x == y
                  : law == NO_MORE ? !(y & ~x)
                                   : !(x & ~y),
                  "\"%s\": %#x, \"%s\": %#x", a, x, b, y);
    }
    log_filter_free(one);
    log_filter_free(other);
}

/* Returns how many directives of a filter take effect. */
static size_t kept(const char *text)
{
    struct log_filter *filter = parse(text, NULL);
    size_t count = filter->count;

    log_filter_free(filter);
    return count;
}

/* Compares a filter with the same filter plus a directive in a random
 * position. */
static void compare_with(struct recipe *recipe, char *more,
                         const char *fallback, enum law law)
{
    char *before = write_out(recipe, false), *after;
    size_t at = test_below((uint32_t)recipe->count + 1);

    memmove(&recipe->pieces[at + 1], &recipe->pieces[at],
            (recipe->count++ - at) * sizeof(*recipe->pieces));
    recipe->pieces[at] = more;
    after = write_out(recipe, false);
    /* A directive that replaces another may show less. */
    if (law != NO_LESS || kept(after) == kept(before) + 1)
        compare(before, after, fallback, law);
    free(before);
    free(after);
}

Test(log_laws, enables_nothing_by_an_exclusion_or_cap)
{
    test_seed(1);
    for (int round = 0; round < ROUNDS; round++) {
        struct recipe recipe;

        make_recipe(&recipe, 0, ANY);
        compare_with(&recipe, make_piece(TAKER), round % 2 ? "info" : NULL,
                     NO_MORE);
        free_recipe(&recipe);
    }
}

Test(log_laws, disables_nothing_by_an_added_directive)
{
    test_seed(2);
    for (int round = 0; round < ROUNDS; round++) {
        struct recipe recipe;

        make_recipe(&recipe, 0, ANY);
        compare_with(&recipe, make_piece(MODERN), NULL, NO_LESS);
        free_recipe(&recipe);
    }
}

Test(log_laws, ignores_the_order_of_directives)
{
    size_t compared = 0;

    test_seed(3);
    for (int round = 0; round < ROUNDS; round++) {
        struct recipe recipe;
        char *before, *after;

        make_recipe(&recipe, 2, ANY);
        before = write_out(&recipe, false);
        for (size_t i = recipe.count; i > 1; i--) {
            size_t j = test_below((uint32_t)i);
            char *piece = recipe.pieces[i - 1];

            recipe.pieces[i - 1] = recipe.pieces[j];
            recipe.pieces[j] = piece;
        }
        after = write_out(&recipe, false);
        if (kept(before) == recipe.count) {
            compare(before, after, NULL, SAME);
            compared++;
        }
        free(before);
        free(after);
        free_recipe(&recipe);
    }
    cr_expect_gt(compared, ROUNDS / 2);
}

Test(log_laws, ignores_white_space)
{
    test_seed(4);
    for (int round = 0; round < ROUNDS; round++) {
        struct recipe recipe;
        char *narrow, *wide;

        make_recipe(&recipe, 1, ANY);
        narrow = write_out(&recipe, false);
        wide = write_out(&recipe, true);
        compare(narrow, wide, NULL, SAME);
        cr_assert_eq(kept(narrow), kept(wide), "\"%s\", \"%s\"", narrow, wide);
        free(narrow);
        free(wide);
        free_recipe(&recipe);
    }
}

/* Directives of EnvFilter keep their meaning beside ours. */
Test(log_laws, changes_nothing_by_a_directive_without_a_match)
{
    static const char *const nothings[] = {
        "~nothing*=trace",       "~nothing[s]=trace",
        "~nothing*[{id=5}]=off", "{id=77}=trace",
        "/no such message/",     "!nothing",
        "!~nothing::",           "![nothing]",
        "!{user=nobody}",        "!/no such message/",
        "^nothing=off",          "^[nothing{id=5}]=off",
        "^{id=77}=off",          "^/no such message/=off",
        "{nothing}=trace",       "~nothing[{user=root}]=trace",
    };

    test_seed(5);
    for (int round = 0; round < ROUNDS; round++) {
        struct recipe recipe;

        make_recipe(&recipe, 1, OLD);
        compare_with(&recipe, strdup(PICK(nothings)), NULL, SAME);
        free_recipe(&recipe);
    }
}

/* What "trace" with an exclusion or cap hides stays hidden whatever is
 * added. */
Test(log_laws, keeps_exclusions_and_caps_whatever_is_added)
{
    test_seed(6);
    for (int round = 0; round < ROUNDS; round++) {
        struct recipe recipe = {.count = 2};
        char *before, *after;

        recipe.pieces[0] = strdup("trace");
        recipe.pieces[1] = make_piece(TAKER);
        before = write_out(&recipe, false);
        while (recipe.count < 5)
            recipe.pieces[recipe.count++] = make_piece(ANY);
        after = write_out(&recipe, false);
        compare(before, after, NULL, NO_MORE);
        free(before);
        free(after);
        free_recipe(&recipe);
    }
}

Test(log_laws, applies_exclusions_and_caps_alone_to_the_default)
{
    test_seed(7);
    for (int round = 0; round < ROUNDS; round++) {
        static const char *const defaults[] = {"info", "net=trace,[s]=debug"};
        struct recipe recipe;
        const char *fallback = PICK(defaults);
        struct trace_text whole = {0};
        char *text;

        make_recipe(&recipe, 0, TAKER);
        text = write_out(&recipe, false);
        trace_text_printf(&whole, "%s,%s", fallback, text);
        compare(text, whole.data, fallback, SAME);
        trace_text_free(&whole);
        free(text);
        free_recipe(&recipe);
    }
}

Test(log_laws, prefers_the_last_of_two_equal_directives)
{
    test_seed(8);
    for (int round = 0; round < ROUNDS / 4; round++) {
        struct recipe recipe = {.count = 2};
        char *both, *last;

        recipe.pieces[0] = make_piece(test_below(2) ? OLD : MODERN);
        recipe.pieces[1] = strdup(recipe.pieces[0]);
        both = write_out(&recipe, false);
        recipe.count = 1;
        last = write_out(&recipe, false);
        cr_assert_eq(kept(both), 1, "%s", both);
        compare(both, last, NULL, SAME);
        free(both);
        free(last);
        recipe.count = 2;
        free_recipe(&recipe);
    }
}
