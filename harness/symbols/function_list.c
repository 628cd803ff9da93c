/* function_list.c: which functions are recorded. */
#include <stdlib.h>
#include <string.h>

#include "symbols.h"
#include "trace/base/globs.h"

/* ---- Parsing ---- */

size_t test_log_count_items(const char *text)
{
    size_t count = 1;

    for (; *text; text++)
        count += *text == ',';
    return count;
}

static struct test_log_function_glob glob_of(const char *item)
{
    static const char library[] = "lib:";
    struct test_log_function_glob glob = {.item = item,
                                          .excludes = *item == '!'};

    glob.glob = item + glob.excludes;
    glob.library = !strncmp(glob.glob, library, sizeof(library) - 1);
    if (glob.library)
        glob.glob += sizeof(library) - 1;
    return glob;
}

/* Divides list->text into globs; returns what is wrong, or NULL. */
static const char *divide(struct test_log_function_list *list)
{
    char *rest = list->text, *item;

    while ((item = strsep(&rest, ","))) {
        struct test_log_function_glob glob = glob_of(item);

        if (!*glob.glob)
            return "a glob is empty";
        if (!strcmp(item, "none"))
            list->none = true, glob.glob = "";
        list->includes |= !glob.excludes;
        list->globs[list->count++] = glob;
    }
    return list->none && list->count > 1 ? "none stands alone" : NULL;
}

const char *test_log_function_list_read(struct test_log_function_list *list,
                                        const char *text)
{
    const char *fault = "out of memory";

    *list = (struct test_log_function_list){
        .text = strdup(text),
        .globs = calloc(test_log_count_items(text), sizeof(*list->globs))};
    if (list->text && list->globs)
        fault = divide(list);
    if (fault)
        test_log_function_list_free(list);
    return fault;
}

void test_log_function_list_free(struct test_log_function_list *list)
{
    free(list->text);
    free(list->globs);
    *list = (struct test_log_function_list){0};
}

/* ---- Matching ---- */

static unsigned mark(struct test_log_function_glob *glob)
{
    glob->matched = true;
    return glob->excludes ? TEST_LOG_FUNCTION_EXCLUDED
                          : TEST_LOG_FUNCTION_INCLUDED;
}

/* Returns the part of a C++ name behind its last "::" that is in no bracket; an
 * operator's name may have some. */
static const char *last_part(const char *name)
{
    const char *last = name;
    int depth = 0;

    for (const char *at = name; *at; at++) {
        if (*at == '<' || *at == '(')
            depth++;
        else if (*at == '>' || *at == ')')
            depth--;
        else if (!depth && at[0] == ':' && at[1] == ':')
            last = at + 2;
        if (last == at + 2 && !strncmp(last, "operator", 8))
            break;
    }
    return last;
}

static bool matches(const char *glob, const char *name)
{
    return !fnmatch(glob, name, FNM_EXTMATCH) ||
           !fnmatch(glob, last_part(name), FNM_EXTMATCH);
}

static unsigned match_name(struct test_log_function_list *list,
                           const char *name)
{
    unsigned result = 0;

    for (size_t i = 0; i < list->count; i++)
        if (!list->globs[i].library && matches(list->globs[i].glob, name))
            result |= mark(&list->globs[i]);
    return result;
}

/* The compiler adds a suffix to the name of a function that it has changed:
 * "store_find.constprop.0". */
static unsigned match_symbol(struct test_log_function_list *list,
                             const char *symbol)
{
    unsigned result = match_name(list, symbol);
    size_t size = strcspn(symbol, ".");
    char *name = symbol[size] ? strndup(symbol, size) : NULL;

    if (name)
        result |= match_name(list, name);
    free(name);
    return result;
}

unsigned test_log_function_list_match(struct test_log_function_list *list,
                                      const char *symbol)
{
    char *name = test_log_demangle(symbol);
    unsigned result =
        name ? match_name(list, name) : match_symbol(list, symbol);

    free(name);
    return result;
}

unsigned test_log_function_list_match_file(struct test_log_function_list *list,
                                           const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    unsigned result = 0;

    for (size_t i = 0; i < list->count; i++)
        if (list->globs[i].library &&
            !fnmatch(list->globs[i].glob, name, FNM_EXTMATCH))
            result |= mark(&list->globs[i]);
    return result;
}
