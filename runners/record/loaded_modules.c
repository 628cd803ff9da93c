/* loaded_modules.c: the modules of a program that does not run yet. */
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "harness/machine/elf_file.h"
#include "harness/machine/notice.h"
#include "recorded_run.h"
#include "runners/runs/command_output.h"
#include "trace/base/containers.h"
#include "trace/base/text.h"

/* Takes the path out of a line such as "\tlibc.so.6 => /lib/libc.so.6 (0x7f)";
 * NULL if there is none. */
static char *path_in(char *line)
{
    char *path = strchr(line, '/');
    char *end = path ? strstr(path, " (") : NULL;

    if (end)
        *end = '\0';
    return path && path > line && path[-1] == '.' ? path - 1 : path;
}

/* Reads the segments of a file; false if it has none. */
static bool read_module(const char *path, struct dl_phdr_info *module)
{
    struct test_log_elf file;
    const char *at = NULL;
    ElfW(Phdr) * segments;
    size_t size;

    if (!test_log_elf_open(&file, path))
        return false;
    size = file.header.e_phnum * sizeof(*segments);
    if (file.header.e_phentsize == sizeof(*segments))
        at = test_log_elf_at(&file, file.header.e_phoff, size);
    segments = at ? malloc(size + 1) : NULL;
    if (segments)
        memcpy(segments, at, size);
    *module = (struct dl_phdr_info){.dlpi_name = segments ? strdup(path) : NULL,
                                    .dlpi_phdr = segments,
                                    .dlpi_phnum = file.header.e_phnum};
    test_log_elf_close(&file);
    if (!module->dlpi_name)
        free(segments);
    return module->dlpi_name;
}

struct dl_phdr_info *runners_modules_of(const char *program)
{
    struct trace_text command = {0}, answer = {0};
    struct dl_phdr_info *modules = NULL;
    size_t count = 0, capacity = 0;
    char *line, *rest, *path;

    trace_text_string(&command, "p=$(command -v -- ");
    test_log_add_word(&command, program);
    trace_text_string(&command, ") && echo \"$p\" && ldd \"$p\" 2>/dev/null");
    if (!command.failed)
        runners_command_text(command.data, &answer);
    for (rest = answer.data; (line = strsep(&rest, "\n"));) {
        if (!TRACE_ARRAY_RESERVE(modules, capacity, count + 2))
            break;
        path = path_in(line);
        if (path && read_module(path, &modules[count]))
            count++;
        modules[count] = (struct dl_phdr_info){.dlpi_name = NULL};
    }
    trace_text_free(&command);
    trace_text_free(&answer);
    return modules ? modules : calloc(1, sizeof(*modules));
}

void runners_free_modules(struct dl_phdr_info *modules)
{
    for (size_t i = 0; modules && modules[i].dlpi_name; i++) {
        free((void *)modules[i].dlpi_name);
        free((void *)modules[i].dlpi_phdr);
    }
    free(modules);
}
