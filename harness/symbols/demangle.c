/* demangle.c: the names of C++ functions, as the C++ library demangles them. */
#include "symbols.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *symbol, char *buffer, size_t *size,
                        int *status);

static demangler *find_demangler(void)
{
    static bool tried;
    static demangler *found;
    void *library;

    if (tried)
        return found;
    tried = true;
    library = dlopen("libstdc++.so.6", RTLD_NOW | RTLD_LOCAL);
    if (library)
        *(void **)&found = dlsym(library, "__cxa_demangle");
    return found;
}

/* ---- Names without parameters ---- */

/* Returns the place of the bracket that a closing one at `end` belongs to, or
 * the beginning. */
static const char *opening(const char *begin, const char *end)
{
    int depth = 0;

    for (const char *at = end;; at--) {
        if (*at == ')')
            depth++;
        else if (*at == '(' && !--depth)
            return at;
        if (at == begin)
            return begin;
    }
}

/* Returns whether a bracket belongs to a name: "operator()" or "(anonymous
 * namespace)". */
static bool is_named(const char *begin, const char *at)
{
    static const char operator_word[] = "operator", anonymous[] = "(anonymous";
    const size_t size = sizeof(operator_word) - 1;

    return !strncmp(at, anonymous, sizeof(anonymous) - 1) ||
           ((size_t)(at - begin) >= size &&
            !strncmp(at - size, operator_word, size));
}

/* Returns where the type that a function returns ends: behind the last blank
 * that is in no bracket, unless it belongs to an operator's name. */
static char *name_begin(char *name)
{
    char *begin = name, *operator_word = strstr(name, "operator");
    int depth = 0;

    for (char *at = name; *at && at != operator_word; at++) {
        depth += *at == '<' || *at == '(';
        depth -= *at == '>' || *at == ')';
        if (*at == ' ' && !depth)
            begin = at + 1;
    }
    return begin;
}

void test_log_cut_parameters(char *name)
{
    char *end = strrchr(name, ')');
    char *begin;

    if (end) {
        char *at = (char *)opening(name, end);

        if (!is_named(name, at))
            *at = '\0';
    }
    begin = name_begin(name);
    memmove(name, begin, strlen(begin) + 1);
}

char *test_log_demangle(const char *symbol)
{
    demangler *demangle = strncmp(symbol, "_Z", 2) ? NULL : find_demangler();
    char *name = demangle ? demangle(symbol, NULL, NULL, NULL) : NULL;

    if (name)
        test_log_cut_parameters(name);
    return name;
}
