/* split_command.c: finds the last command of a shell's text. */
#include <string.h>

#include "bisect.h"

/* Returns what follows a quoted text that begins here. */
static const char *after_quotes(const char *at)
{
    char quote = *at++;

    while (*at && *at != quote)
        at += *at == '\\' && quote == '"' && at[1] ? 2 : 1;
    return at + (*at != '\0');
}

/* Returns the size of a separator, 0 if there is none. */
static size_t separator(const char *at)
{
    if (*at == ';' || *at == '\n')
        return 1;
    return at[0] == '&' && at[1] == '&' ? 2 : 0;
}

static bool is_blank(const char *text)
{
    return !text[strspn(text, " \t\n;")];
}

size_t runners_last_command(const char *text)
{
    const char *last = text, *at = text;
    size_t depth = 0;

    while (*at) {
        size_t size = depth ? 0 : separator(at);

        if (*at == '\\' && at[1]) {
            at += 2;
        } else if (*at == '\'' || *at == '"' || *at == '`') {
            at = after_quotes(at);
        } else if (size) {
            at += size;
            if (!is_blank(at))
                last = at;
        } else {
            depth += *at == '(' || *at == '{';
            depth -= depth && (*at == ')' || *at == '}');
            at++;
        }
    }
    return (size_t)(last - text) + strspn(last, " \t\n");
}

static size_t without_blanks(const char *text, size_t size)
{
    while (size && strchr(" \t\n", text[size - 1]))
        size--;
    return size;
}

size_t runners_commands_before(const char *text, size_t last)
{
    size_t size = without_blanks(text, last);

    if (size > 1 && !strncmp(text + size - 2, "&&", 2))
        size -= 2;
    else if (size && text[size - 1] == ';')
        size--;
    return without_blanks(text, size);
}
