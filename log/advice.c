/* advice.c: what EnvFilter reads otherwise than it was probably meant.
 *
 * Its rules stay: these are no mistakes, and mean what they mean there.
 */
#include "internal.h"

enum { ADVICE_MAX = 10 };

/* `f="v"`: the quotes are part of the expression. */
static void advise_quotes(const struct log_pattern *pattern,
                          struct trace_text *out)
{
    const char *text = pattern->text;
    size_t size = strlen(text) - 2;

    trace_text_string(out, "a value in quotes matches only text that is shown "
                           "in quotes; write ");
    if (strcspn(text + 1, " ,={}\\") > size)
        trace_text_printf(out, "%s=%.*s, or ", pattern->name, (int)size,
                          text + 1);
    trace_text_printf(out, "%s~=%s", pattern->name, text);
}

/* `f==v`, `f=v g=w`, `f=v=w` */
static void advise_dropped(const struct log_pattern *pattern,
                           struct trace_text *out)
{
    const char *text = pattern->text, *dropped = pattern->dropped;
    const char *blank = strrchr(text, ' ');

    dropped += strspn(dropped, " ");
    if (!*text)
        trace_text_printf(out,
                          "a second \"=\" leaves an empty expression; write "
                          "%s=%s",
                          pattern->name, dropped);
    else if (blank)
        trace_text_printf(out,
                          "what follows the second \"=\" is not looked at; "
                          "write %s=%.*s,%s=%s",
                          pattern->name, (int)strcspn(text, " "), text,
                          blank + 1, dropped);
    else
        trace_text_printf(out,
                          "what follows the second \"=\" is not looked at; "
                          "write %s~=\"%s=%s\"",
                          pattern->name, text, dropped);
}

/* Advises on a pattern, if there is something to say of it. */
static bool advise(const struct log_pattern *pattern, struct trace_text *out)
{
    const char *text = pattern->text;
    size_t size = text ? strlen(text) : 0;

    if (pattern->operation != LOG_IS)
        return false;
    if (pattern->dropped)
        advise_dropped(pattern, out);
    else if (size > 2 && text[0] == '"' && text[size - 1] == '"')
        advise_quotes(pattern, out);
    else
        return false;
    return true;
}

/* The first advice on a directive; the others come when this is followed. */
static bool advise_directive(const struct log_directive *directive,
                             struct trace_text *out)
{
    for (size_t i = 0; i < directive->field_count; i++)
        if (advise(&directive->fields[i], out))
            return true;
    return false;
}

bool log_filter_advise(const struct log_filter *filter, const char *origin,
                       struct trace_text *out)
{
    struct trace_text words = {0};
    size_t count = 0;

    for (size_t i = 0; i < filter->count; i++) {
        trace_text_clear(&words);
        if (!advise_directive(&filter->directives[i], &words) ||
            count++ >= ADVICE_MAX)
            continue;
        trace_text_printf(out, "%s: ", origin);
        log_filter_brief(out, filter->directives[i].text);
        trace_text_string(out, ": ");
        log_filter_brief(out, words.data ? words.data : "");
        trace_text_char(out, '\n');
    }
    if (count > ADVICE_MAX)
        trace_text_printf(out, "%s: there is advice on %zu more directives\n",
                          origin, count - ADVICE_MAX);
    trace_text_free(&words);
    return count;
}
