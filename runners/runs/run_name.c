/* run_name.c: the names that the folder of a run in a pack may have. */
#include <string.h>

#include "archive.h"

bool runners_is_run_name(const char *name, size_t size)
{
    static const char allowed[] = "abcdefghijklmnopqrstuvwxyz"
                                  "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "0123456789._-+:";
    static const char latest[] = "latest";

    return size && size <= NAME_MAX && strspn(name, allowed) >= size &&
           name[0] != '.' && name[0] != '-' &&
           (size != strlen(latest) || strncmp(name, latest, size) != 0);
}
