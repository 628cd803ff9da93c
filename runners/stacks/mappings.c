/* mappings.c: what a process has mapped at an address. */
#include <inttypes.h>
#include <stdio.h>

#include "stacks.h"

static FILE *open_mappings(pid_t process)
{
    char path[64];

    if (stacks_left())
        return stacks_left_mappings();
    snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
    return fopen(path, "re");
}

bool stacks_find_mapping(pid_t process, uint64_t address,
                         struct stacks_mapping *mapping)
{
    FILE *maps = open_mappings(process);
    bool found = false;
    char line[512];

    while (maps && !found && fgets(line, sizeof(line), maps)) {
        mapping->name[0] = '\0';
        found = sscanf(line,
                       "%" SCNx64 "-%" SCNx64 " %7s %" SCNx64 " %*s %*s %255s",
                       &mapping->begin, &mapping->end, mapping->access,
                       &mapping->offset, mapping->name) >= 4 &&
                address >= mapping->begin && address < mapping->end;
    }
    if (maps)
        fclose(maps);
    return found;
}

struct stacks_frame stacks_place(pid_t process, uint64_t address,
                                 struct stacks_mapping *mapping)
{
    struct stacks_frame frame = {.address = address};

    if (stacks_find_mapping(process, address, mapping) && mapping->name[0]) {
        frame.module = mapping->name;
        frame.offset = address - mapping->begin + mapping->offset;
    }
    return frame;
}
