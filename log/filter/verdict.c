/* verdict.c: applies a filter to a call site, an event, and a span.
 *
 * Among the directives that EnvFilter has, the first one that matches a call
 * site decides. Directives for spans only add, where a matching span is
 * entered; so do globs, messages and the values of events. "^" limits all of
 * these, "!" hides.
 */
#include <stdlib.h>
#include <string.h>

#include "filter.h"

/* ---- Matching call sites ---- */

static bool declares(const struct trace_site *site, const char *name)
{
    for (size_t i = 0; i < site->field_count; i++)
        if (!strcmp(site->fields[i], name))
            return true;
    for (size_t i = 0;
         site->kind == TRACE_SITE_DEVICE && i < TRACE_LAUNCH_FIELDS; i++)
        if (!strcmp(trace_launch_fields[i], name))
            return true;
    /* A format may be unknown before the call site's first use. */
    return site->kind != TRACE_SITE_SPAN && !strcmp(name, "message") &&
           (!site->name || site->name[0] || !site->field_count);
}

static bool declares_all(const struct trace_site *site,
                         const struct log_directive *directive)
{
    for (size_t i = 0; i < directive->field_count; i++)
        if (!declares(site, directive->fields[i].name))
            return false;
    return true;
}

/* Returns whether a span directive matches a span. */
static bool about_span(const struct log_directive *directive,
                       const struct trace_site *site)
{
    return directive->of_spans && site->kind == TRACE_SITE_SPAN &&
           (!directive->span || !strcmp(directive->span, site->name)) &&
           declares_all(site, directive);
}

static bool about_event(const struct log_directive *directive,
                        const struct trace_site *site)
{
    return directive->of_events && site->kind != TRACE_SITE_SPAN &&
           declares_all(site, directive);
}

/* Returns whether a directive decides for a whole call site: it has a target
 * only, or fields without values, which EnvFilter does not look for in spans.
 */
static bool about_site(const struct log_directive *directive,
                       const struct trace_site *site)
{
    bool names = !directive->span && !directive->values && directive->of_spans;

    if (directive->of_events || (directive->of_spans && !names))
        return false;
    if (site->kind == TRACE_SITE_SPAN)
        return !names || log_directive_is_static(directive);
    return declares_all(site, directive);
}

bool log_directive_decides(const struct log_directive *directive,
                           const struct trace_site *site)
{
    return log_directive_targets(directive, site->target,
                                 strlen(site->target)) &&
           about_site(directive, site);
}

bool log_directive_about(const struct log_directive *directive,
                         const struct trace_site *site)
{
    bool oddity = directive->of_spans && site->kind == TRACE_SITE_SPAN;

    return site->kind != TRACE_SITE_FIELDS &&
           log_directive_targets(directive, site->target,
                                 strlen(site->target)) &&
           (about_span(directive, site) || about_event(directive, site) ||
            (!oddity && about_site(directive, site)));
}

/* ---- Call sites ---- */

/* Returns whether a directive that tests values, or applies within the span,
 * can make a difference. */
static bool matters(const struct log_filter *filter,
                    const struct log_directive *directive,
                    const struct trace_site *site)
{
    bool above = site->level > directive->level;

    if (about_span(directive, site))
        return directive->effect != LOG_ADDS || directive->glob ||
               site->level <= filter->hint;
    if (!about_event(directive, site))
        return false;
    return directive->effect == LOG_EXCLUDES ||
           above == (directive->effect == LOG_CAPS);
}

bool log_verdict_make(struct log_verdict *verdict,
                      const struct log_filter *filter,
                      const struct trace_site *site)
{
    size_t size = strlen(site->target);
    bool decided = false;

    *verdict = (struct log_verdict){.site = site};
    for (size_t i = 0; i < filter->count; i++) {
        const struct log_directive *directive = &filter->directives[i];
        bool above = site->level > directive->level, decides;

        if (!log_directive_targets(directive, site->target, size))
            continue;
        decides = about_site(directive, site);
        if (decides && directive->effect == LOG_EXCLUDES) {
            verdict->never = true;
        } else if (decides && directive->effect == LOG_CAPS) {
            verdict->never |= above;
        } else if (decides) {
            if (directive->glob || !decided)
                verdict->shown |= !above;
            decided |= !directive->glob;
        }
        if (!matters(filter, directive, site))
            continue;
        if (!TRACE_ARRAY_RESERVE(verdict->directives, verdict->capacity,
                                 verdict->count + 1)) {
            log_verdict_free(verdict);
            verdict->site = NULL;
            return false;
        }
        verdict->directives[verdict->count++] = directive;
        if (directive->values)
            verdict->patterns += directive->field_count;
    }
    verdict->inside = site->level <= filter->dynamics;
    return true;
}

void log_verdict_free(struct log_verdict *verdict)
{
    free(verdict->directives);
    verdict->directives = NULL;
    verdict->count = verdict->capacity = 0;
}

bool log_filter_excludes(const struct log_filter *filter,
                         const struct trace_site *site)
{
    for (size_t i = 0; i < filter->count; i++)
        if (filter->directives[i].effect == LOG_EXCLUDES &&
            log_directive_decides(&filter->directives[i], site))
            return true;
    return false;
}

bool log_verdict_reaches(const struct log_verdict *verdict)
{
    for (size_t i = 0; i < verdict->count; i++)
        if (verdict->directives[i]->effect == LOG_ADDS
                ? !verdict->never
                : verdict->directives[i]->of_spans)
            return true;
    return !verdict->never && (verdict->shown || verdict->inside);
}

/* Returns whether spans and the level leave a site on. */
static bool shown_inside(const struct log_verdict *verdict,
                         struct trace_scope inside)
{
    return verdict->shown ||
           (verdict->inside && verdict->site->level <= inside.adds);
}

static bool taken(const struct log_verdict *verdict, struct trace_scope inside)
{
    return verdict->never ||
           verdict->site->level + inside.takes > TRACE_LEVEL_TRACE;
}

/* ---- Events ---- */

static bool match_field(const struct log_pattern *pattern,
                        const struct log_fields *fields)
{
    bool found = false;

    for (size_t i = 0; i < fields->count; i++)
        if (!strcmp(fields->site->fields[i], pattern->name)) {
            found = true;
            if (log_pattern_matches(pattern, &fields->values[i]))
                return true;
        }
    if (found || !fields->message || strcmp(pattern->name, "message") != 0)
        return false;

    struct trace_value message =
        trace_string(fields->message, strlen(fields->message));

    return log_pattern_matches(pattern, &message);
}

static bool match_event(const struct log_directive *directive,
                        const struct log_fields *fields)
{
    for (size_t i = 0; i < directive->field_count; i++)
        if (!match_field(&directive->fields[i], fields))
            return false;
    return true;
}

bool log_verdict_event(const struct log_verdict *verdict,
                       struct trace_scope inside,
                       const struct log_fields *fields)
{
    bool shown = shown_inside(verdict, inside);

    if (taken(verdict, inside))
        return false;
    /* Directives that add come before those that limit. */
    for (size_t i = 0; i < verdict->count; i++) {
        bool adds = verdict->directives[i]->effect == LOG_ADDS;

        if (shown != adds && match_event(verdict->directives[i], fields)) {
            if (!adds)
                return false;
            shown = true;
        }
    }
    return shown;
}

/* ---- Spans ---- */

void log_span_fields(struct log_span *span, const struct log_fields *fields)
{
    const struct log_verdict *verdict = span->verdict;
    bool *matched = span->matched;

    for (size_t i = 0; i < verdict->count; i++) {
        const struct log_directive *directive = verdict->directives[i];

        for (size_t j = 0; directive->values && j < directive->field_count;
             j++, matched++)
            *matched = *matched ||
                       directive->fields[j].operation == LOG_DECLARED ||
                       match_field(&directive->fields[j], fields);
    }
}

/* Returns whether all conditions of a directive have matched; steps over its
 * patterns. */
static bool all_matched(const struct log_directive *directive,
                        const bool **matched)
{
    size_t patterns = directive->values ? directive->field_count : 0;
    bool all = true;

    for (; patterns; patterns--)
        all = *(*matched)++ && all;
    return all;
}

struct trace_scope log_span_scope(const struct log_span *span)
{
    const struct log_verdict *verdict = span->verdict;
    const bool *matched = span->matched;
    struct trace_scope own = {0, 0};

    for (size_t i = 0; i < verdict->count; i++) {
        const struct log_directive *directive = verdict->directives[i];
        unsigned level = directive->level;
        unsigned takes = directive->effect == LOG_CAPS
                             ? TRACE_LEVEL_TRACE - level
                             : TRACE_LEVEL_TRACE;

        if (!all_matched(directive, &matched))
            continue;
        if (directive->effect != LOG_ADDS)
            own.takes = (uint8_t)(takes > own.takes ? takes : own.takes);
        else if (span->shown && level > own.adds)
            own.adds = (uint8_t)level;
    }
    return own;
}

/* An excluded span hides everything within it. */
static bool excluded(const struct log_span *span)
{
    const struct log_verdict *verdict = span->verdict;
    const bool *matched = span->matched;

    for (size_t i = 0; i < verdict->count; i++) {
        const struct log_directive *directive = verdict->directives[i];

        if (all_matched(directive, &matched) &&
            directive->effect == LOG_EXCLUDES)
            return true;
    }
    return false;
}

bool log_span_may_extend(const struct log_span *span)
{
    const struct log_verdict *verdict = span->verdict;
    const bool *matched = span->matched;
    bool waits = false;

    for (size_t i = 0; i < verdict->count; i++)
        if (!all_matched(verdict->directives[i], &matched))
            waits |= verdict->directives[i]->effect != LOG_ADDS;
    return waits && !verdict->never && !excluded(span);
}

bool log_span_begin(struct log_span *span, struct trace_scope inside,
                    const struct log_fields *fields)
{
    const struct log_verdict *verdict = span->verdict;
    /* Directives that add come before the others. */
    bool adds = verdict->count && verdict->directives[0]->effect == LOG_ADDS;

    log_span_fields(span, fields);
    span->shown = !taken(verdict, inside) && !excluded(span) &&
                  (shown_inside(verdict, inside) || adds);
    return span->shown;
}
