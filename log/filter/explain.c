/* explain.c: prints filters in words and as text. */
#include <string.h>

#include "filter.h"

static const char *const signs[] = {
#define LOG_X(name, sign, words) [LOG_##name] = sign,
    LOG_OPERATIONS(LOG_X)
#undef LOG_X
};

static const char *const relations[] = {
#define LOG_X(name, sign, words) [LOG_##name] = words,
    LOG_OPERATIONS(LOG_X)
#undef LOG_X
};

static bool is_message(const struct log_directive *directive)
{
    return directive->of_events &&
           directive->parts[strcspn(directive->parts, "/{")] == '/';
}

/* ---- As text ---- */

/* In EnvFilter's form, "!~target/message/[span{fields}]=level": the level is
 * last, or alone if there is nothing else. */
static void put_directive(const struct log_directive *directive,
                          struct trace_text *out)
{
    static const char *const effects[] = {
        [LOG_ADDS] = "", [LOG_CAPS] = "^", [LOG_EXCLUDES] = "!"};
    bool bare = !directive->target_size && !directive->of_spans &&
                !directive->of_events;

    trace_text_printf(out, "%s%s%s%s", out->size ? "," : "",
                      effects[directive->effect], directive->glob ? "~" : "",
                      directive->target);
    if (is_message(directive))
        trace_text_printf(out, "/%s/", directive->fields->text);
    if (directive->of_spans)
        trace_text_printf(out, "[%s", directive->span ? directive->span : "");
    if (directive->field_count && !is_message(directive)) {
        for (size_t i = 0; i < directive->field_count; i++) {
            const struct log_pattern *pattern = &directive->fields[i];

            trace_text_printf(out, "%s%s%s%s", i ? "," : "{", pattern->name,
                              signs[pattern->operation],
                              pattern->text ? pattern->text : "");
        }
        trace_text_char(out, '}');
    }
    if (directive->of_spans)
        trace_text_char(out, ']');
    if (directive->effect != LOG_EXCLUDES)
        trace_text_printf(out, "%s%s", bare ? "" : "=",
                          trace_level_word(directive->level));
}

void log_filter_text(const struct log_filter *filter, struct trace_text *out)
{
    for (size_t i = 0; i < filter->count; i++)
        if (log_directive_is_static(&filter->directives[i]))
            put_directive(&filter->directives[i], out);
    /* EnvFilter lists directives with fields twice. */
    for (size_t i = 0; i < filter->count; i++)
        if (!log_directive_is_static(&filter->directives[i]) ||
            filter->directives[i].of_spans)
            put_directive(&filter->directives[i], out);
}

/* ---- In words ---- */

/* Adds what a directive selects: "events whose n is greater than 5". */
static void describe_selection(const struct log_directive *directive,
                               struct trace_text *out)
{
    size_t size = directive->target_size;
    const char *target = directive->target;

    if (is_message(directive)) {
        trace_text_printf(out, "events whose message matches %s",
                          directive->fields->text);
        return;
    }
    if (directive->of_spans && directive->span)
        trace_text_printf(out, "spans \"%s\"", directive->span);
    else if (directive->of_spans)
        trace_text_string(out,
                          directive->values ? "spans" : "spans and events");
    else if (directive->of_events)
        trace_text_string(out, "events");
    else
        trace_text_string(out, size ? "spans and events" : "everything");
    if (size && !directive->glob)
        trace_text_printf(out, " whose target begins with \"%s\"", target);
    else if (size > 2 && !strcmp(target + size - 2, "::"))
        trace_text_printf(out, " of the module \"%.*s\" and those within it",
                          (int)size - 2, target);
    else if (size)
        trace_text_printf(out, " whose target matches \"%s\"", target);
    for (size_t i = 0; i < directive->field_count; i++) {
        const struct log_pattern *pattern = &directive->fields[i];
        bool regex =
            pattern->operation == LOG_IS && pattern->type == LOG_VALUE_TEXT;

        trace_text_string(out, i ? " and " : " ");
        if (pattern->operation == LOG_DECLARED)
            trace_text_printf(out, "that have a field \"%s\"", pattern->name);
        else
            trace_text_printf(out, "whose %s %s %s", pattern->name,
                              regex ? "ends with a match of"
                                    : relations[pattern->operation],
                              pattern->text);
    }
}

/* Adds what it does with them: "within them at most info and more severe". */
static void describe_effect(const struct log_directive *directive,
                            struct trace_text *out)
{
    bool within = directive->of_spans;
    unsigned level = directive->level;

    if (directive->effect == LOG_EXCLUDES) {
        trace_text_string(out,
                          within ? "never, nor anything within them" : "never");
        return;
    }
    if (directive->effect == LOG_CAPS)
        trace_text_string(out, within ? "within them at most " : "at most ");
    else if (within)
        trace_text_string(out, "these, and within them ");
    else if (!log_directive_is_static(directive))
        trace_text_string(out, "also ");
    if (level == TRACE_LEVEL_OFF)
        trace_text_string(out, "nothing");
    else if (level == TRACE_LEVEL_TRACE)
        trace_text_string(out, "every level");
    else
        trace_text_printf(out, "%s%s", trace_level_word(level),
                          level == TRACE_LEVEL_ERROR ? " alone"
                                                     : " and more severe");
}

void log_filter_explain(const struct log_filter *filter, struct trace_text *out)
{
    struct trace_text words = {0};

    for (size_t i = 0; i < filter->count; i++) {
        const struct log_directive *directive = &filter->directives[i];

        trace_text_clear(&words);
        describe_selection(directive, &words);
        trace_text_string(&words, ": ");
        describe_effect(directive, &words);
        trace_text_string(out, "  ");
        log_plain(out, directive->text, strlen(directive->text));
        trace_text_string(out, "\n      ");
        log_plain(out, words.data ? words.data : "", words.size);
        trace_text_char(out, '\n');
    }
    trace_text_free(&words);
}

/* ---- Call sites ---- */

/* Returns whether a directive is a reason for a site's state. */
static bool is_reason(const struct log_verdict *verdict,
                      const struct log_directive *directive, bool *decided)
{
    const struct trace_site *site = verdict->site;
    bool above = site->level > directive->level, first = !*decided;

    for (size_t i = 0; i < verdict->count; i++)
        if (verdict->directives[i] == directive)
            return !verdict->never &&
                   !(verdict->shown && directive->of_events &&
                     directive->effect == LOG_ADDS);
    if (directive->effect == LOG_ADDS && directive->of_spans &&
        !verdict->shown && verdict->inside && !verdict->never && !above)
        return true;
    if (!log_directive_decides(directive, site))
        return false;
    if (directive->effect != LOG_ADDS)
        return directive->effect == LOG_EXCLUDES || above;
    *decided |= !directive->glob;
    if (verdict->never)
        return false;
    if (directive->glob || !first)
        return directive->glob && !above;
    return verdict->shown ? !above : !log_verdict_reaches(verdict);
}

enum log_state log_filter_judge(const struct log_filter *filter,
                                const struct trace_site *site,
                                struct trace_text *why)
{
    struct log_verdict verdict = {0};
    enum log_state state = LOG_STATE_ON;
    bool decided = false, hides;

    if (!log_verdict_make(&verdict, filter, site))
        return LOG_STATE_SOMETIMES;
    for (size_t i = 0; i < filter->count; i++)
        if (is_reason(&verdict, &filter->directives[i], &decided)) {
            trace_text_string(why, why->size ? " " : "");
            trace_text_string(why, filter->directives[i].text);
        }
    /* The last directive's conditions on values can hide the site. */
    hides = verdict.count &&
            verdict.directives[verdict.count - 1]->effect != LOG_ADDS;
    if (verdict.never || !(verdict.shown || log_verdict_reaches(&verdict)))
        state = LOG_STATE_OFF;
    else if (!verdict.shown || hides)
        state = LOG_STATE_SOMETIMES;
    log_verdict_free(&verdict);
    return state;
}
