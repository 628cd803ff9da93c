/* mappings.c: what a process has mapped at an address. */
#include <inttypes.h>
#include <stdio.h>

#include "stacks.h"

bool stacks_find_mapping(pid_t process, uint64_t address,
                         struct stacks_mapping *mapping)
{
    char path[64], line[512];
    bool found = false;
    FILE *maps;

    snprintf(path, sizeof(path), "/proc/%d/maps", (int)process);
    maps = fopen(path, "re");
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
