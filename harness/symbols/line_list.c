/* line_list.c: which lines are recorded. */
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "symbols.h"

/* ---- Parsing ---- */

/* Returns the colon of FILE:LINES, NULL: it is a function. The names of C++
 * have two. */
static char *find_colon(char *item)
{
    char *colon = strrchr(item, ':');

    return colon && (colon == item || colon[-1] != ':') ? colon : NULL;
}

/* Reads a number from 1 on; false if there is none. */
static bool read_number(char **at, uint32_t *number)
{
    char *end;
    unsigned long value = strtoul(*at, &end, 10);

    if (strspn(*at, "0123456789") != (size_t)(end - *at) || end == *at ||
        !value || value > UINT32_MAX)
        return false;
    *number = (uint32_t)value;
    *at = end;
    return true;
}

static const char *read_lines(struct test_log_region *region, char *colon)
{
    char *at = colon + 1;

    *colon = '\0';
    region->file = region->text;
    if (!*region->file)
        return "a file has no name";
    if (!read_number(&at, &region->first))
        return "a line is not a number from 1 on";
    region->last = region->first;
    if (*at == '-') {
        at++;
        if (!read_number(&at, &region->last))
            return "a line is not a number from 1 on";
    }
    if (*at)
        return "a line is not a number from 1 on";
    return region->last < region->first ? "the last line is before the first"
                                        : NULL;
}

static const char *read_function(struct test_log_region *region)
{
    const char *item = region->item;

    if (strpbrk(item, "/.") && !strstr(item, "operator"))
        return "a file needs its lines";
    if (*item == '!' || !strcmp(item, "none"))
        return "it is neither lines nor a function";
    return test_log_function_list_read(&region->function, item);
}

static const char *read_region(struct test_log_region *region, const char *item,
                               size_t size)
{
    char *colon;

    region->item = strndup(item, size);
    region->text = strndup(item, size);
    if (!region->item || !region->text)
        return "out of memory";
    if (!size)
        return "an item is empty";
    colon = find_colon(region->text);
    return colon ? read_lines(region, colon) : read_function(region);
}

const char *test_log_line_list_read(struct test_log_line_list *list,
                                    const char *text)
{
    const char *fault = NULL;

    *list = (struct test_log_line_list){
        .regions = calloc(test_log_count_items(text), sizeof(*list->regions))};
    if (!list->regions)
        return "out of memory";
    for (const char *at = text; at && !fault;) {
        size_t size = strcspn(at, ",");

        fault = read_region(&list->regions[list->count++], at, size);
        at = at[size] ? at + size + 1 : NULL;
    }
    if (fault)
        test_log_line_list_free(list);
    return fault;
}

void test_log_line_list_free(struct test_log_line_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        free(list->regions[i].item);
        free(list->regions[i].text);
        test_log_function_list_free(&list->regions[i].function);
    }
    free(list->regions);
    *list = (struct test_log_line_list){0};
}

/* ---- Matching ---- */

/* A file matches a path that ends with its name. */
static bool is_path_of(const char *file, const char *path)
{
    size_t size = strlen(file), all = strlen(path);

    while (size > 1 && file[0] == '.' && file[1] == '/') {
        file += 2;
        size -= 2;
    }
    return all >= size && !strcmp(path + all - size, file) &&
           (all == size || path[all - size - 1] == '/' || *file == '/');
}

bool test_log_line_list_match(struct test_log_line_list *list,
                              const struct test_log_line *line)
{
    bool found = false;

    for (size_t i = 0; i < list->count; i++) {
        struct test_log_region *region = &list->regions[i];

        if (!region->file || line->line < region->first ||
            line->line > region->last || !is_path_of(region->file, line->file))
            continue;
        region->matched = found = true;
    }
    return found;
}

bool test_log_line_list_match_function(struct test_log_line_list *list,
                                       const char *symbol)
{
    bool found = false;

    for (size_t i = 0; i < list->count; i++) {
        struct test_log_region *region = &list->regions[i];

        if (region->file ||
            !test_log_function_list_match(&region->function, symbol))
            continue;
        region->matched = found = true;
    }
    return found;
}
