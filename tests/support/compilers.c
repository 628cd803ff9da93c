/* compilers.c: builds and runs programs that call NVRTC and nvJitLink. */
#include "compilers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

#define SOURCES TESTS_DIR "/programs/compiler_"

static const char *compiler(void)
{
    const char *given = getenv("CC");

    return given && *given ? given : "cc";
}

static void build(const char *command)
{
    const struct e2e *result = e2e_run("%s", command);

    cr_assert_eq(result->code, 0, "%s: %.4000s", command, result->err);
}

const char *compilers_fake(void)
{
    static char folder[PATH_MAX];
    char command[3 * PATH_MAX], here[PATH_MAX - 8];

    cr_assert_not_null(getcwd(here, sizeof(here)));
    snprintf(folder, sizeof(folder), "%s/fake", here);
    snprintf(command, sizeof(command),
             "mkdir -p fake && cd fake && for l in nvrtc nvJitLink; do "
             "%s -shared -fPIC -w -D_GNU_SOURCE -Wl,-soname,lib$l.so.13 "
             "-o lib$l.so.13 %sfake.c && ln -sf lib$l.so.13 lib$l.so || exit 1;"
             " done",
             compiler(), SOURCES);
    build(command);
    return folder;
}

const char *compilers_toolkit(void)
{
    static char folder[PATH_MAX];
    const struct e2e *found = e2e_run(
        "for d in \"$(dirname \"$(command -v nvcc)\" 2>/dev/null)/..\" "
        "'%s' '%s' /usr/local/cuda; do for l in lib64 lib; do "
        "test -e $d/$l/libnvrtc.so.13 && test -e $d/$l/libnvJitLink.so.13 && "
        "readlink -f $d/$l && exit; done; done; exit 0",
        getenv("CUDA_HOME") ? getenv("CUDA_HOME") : "/nowhere",
        getenv("CUDA_PATH") ? getenv("CUDA_PATH") : "/nowhere");

    snprintf(folder, sizeof(folder), "%.*s", (int)strcspn(found->out, "\n"),
             found->out);
    if (!*folder)
        cr_skip("no CUDA toolkit 13 with NVRTC and nvJitLink was found");
    return folder;
}

void compilers_many(void)
{
    char command[6 * PATH_MAX];

    snprintf(command, sizeof(command),
             "cc=\"%s -w -g -D_GNU_SOURCE %s -I%s/include -I%s\"; "
             "for n in 1 2; do "
             "$cc -shared -fPIC -DLIBRARY=$n -Wl,-soname,libnvrtc.so.1$n "
             "-o libnvrtc.so.1$n %smany.c && "
             "$cc -shared -fPIC -DPLUGIN -o $n.so %smany.c "
             "-Wl,--no-as-needed ./libnvrtc.so.1$n -Wl,-rpath,$PWD || exit 1; "
             "done; $cc -rdynamic -o many %smany.c %s/libtestlog.a -lpthread "
             "-ldl",
             compiler(), SANITIZE_FLAGS, BUILD_DIR, SOURCE_DIR, SOURCES,
             SOURCES, SOURCES, BUILD_DIR);
    build(command);
}

const char *compilers_audit(void)
{
    static char text[PATH_MAX];

    snprintf(text, sizeof(text), "LD_AUDIT='%s/libtestlog-audit.so'",
             BUILD_DIR);
    return text;
}

/* Compiler flags of the user's code. */
static const char *user_flags(enum compilers_user user)
{
    switch (user) {
    case USER_CXX:
        return "-x c++ -fpermissive -w";
    case USER_LATE:
        return "-DLATE -w";
    default:
        return "-w";
    }
}

static void build_user(enum compilers_user user, const char *link)
{
    bool shared = user == USER_SHARED || user == USER_PLUGIN;
    char command[4 * PATH_MAX];

    snprintf(command, sizeof(command),
             "%s -D_GNU_SOURCE -O0 -g -fPIC %s %s %s '%suser.c' -x none %s",
             compiler(), SANITIZE_FLAGS, user_flags(user),
             shared ? "-shared -o libuser.so" : "-c -o user.o", SOURCES,
             shared ? link : "");
    build(command);
}

static void build_program(enum compilers_user user, const char *libraries)
{
    char link[2 * PATH_MAX], command[6 * PATH_MAX];
    static const char *const own[] = {
        [USER_LINKED] = "user.o",
        [USER_NOW] = "user.o -Wl,-z,now",
        [USER_CXX] = "user.o",
        [USER_SHARED] = "-L. -Wl,--no-as-needed -luser",
        [USER_LATE] = "user.o",
        [USER_PLUGIN] = "",
        [USER_MISSING] = "user.o",
    };
    bool linked = user <= USER_SHARED;

    snprintf(link, sizeof(link),
             "-L'%s' -Wl,-rpath,'%s' -Wl,--no-as-needed -lnvrtc -lnvJitLink",
             libraries, libraries);
    build_user(user, link);
    snprintf(command, sizeof(command),
             "%s -D_GNU_SOURCE -w -g %s -I'%s/include' -I'%s' -o host "
             "'%shost.c' %s '%s/libtestlog.a' -Wl,-rpath,. %s -lpthread -ldl",
             compiler(), SANITIZE_FLAGS, BUILD_DIR, SOURCE_DIR, SOURCES,
             own[user], BUILD_DIR, linked ? link : "");
    build(command);
}

const struct e2e *compilers_run(enum compilers_user user, const char *libraries,
                                const char *before, const char *arguments)
{
    const struct e2e *result;

    if (!e2e_exists("host"))
        build_program(user, libraries);
    result = e2e_run(
        "rm -f recording; LD_LIBRARY_PATH='%s' %s %s ./host %s", libraries,
        user == USER_PLUGIN ? "PLUGIN=./libuser.so" : "", before, arguments);
    cr_assert_eq(result->code, 0, "%d: %.4000s%.1000s", result->code,
                 result->err, result->out);
    return result;
}

/* ---- Recordings ---- */

/* Writes texts unchanged, numbers in decimal. */
static void write_value(char *text, size_t size,
                        const struct trace_value *value)
{
    if (value->type == TRACE_TYPE_U64)
        snprintf(text, size, "%llu", (unsigned long long)value->as.u);
    else
        snprintf(text, size, "%.*s", (int)value->size, value->as.text);
}

static bool value_of(const struct trace_entry *entry, const char *field,
                     char *text, size_t size)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    *text = '\0';
    for (size_t i = 0;
         i < entry->site->field_count && trace_values_next(&values, &value);
         i++)
        if (!strcmp(entry->site->fields[i], field) &&
            value.type != TRACE_TYPE_EMPTY) {
            write_value(text, size, &value);
            return true;
        }
    return false;
}

static bool is_stage(const struct trace_entry *entry, const char *stage)
{
    char text[64];

    return entry->kind == TRACE_ENTRY_DEVICE &&
           entry->at.kind == TRACE_ACTIVITY_COMPILE &&
           value_of(entry, "stage", text, sizeof(text)) && !strcmp(text, stage);
}

static struct trace_reader *read_recording(void)
{
    struct trace_reader *reader = trace_reader_open("recording");

    cr_assert_not_null(reader, "no recording");
    return reader;
}

size_t compilers_count(const char *stage, const char *name)
{
    struct trace_reader *reader = read_recording();
    struct trace_entry entry;
    size_t count = 0;

    while (trace_reader_next(reader, &entry))
        count += is_stage(&entry, stage) &&
                 (!name || !strcmp(entry.site->name, name));
    trace_reader_close(reader);
    return count;
}

/* Finds the first event of a stage. */
static struct trace_reader *find(const char *stage, struct trace_entry *entry)
{
    struct trace_reader *reader = read_recording();

    while (trace_reader_next(reader, entry))
        if (is_stage(entry, stage))
            return reader;
    cr_assert(false, "no event of %s", stage);
    return NULL;
}

const char *compilers_value(const char *stage, const char *field)
{
    static char texts[8][4096];
    static unsigned next;
    struct trace_entry entry;
    struct trace_reader *reader = find(stage, &entry);
    char *text = texts[next++ % 8];

    value_of(&entry, field, text, sizeof(texts[0]));
    trace_reader_close(reader);
    return text;
}

unsigned compilers_level(const char *stage)
{
    struct trace_entry entry;
    struct trace_reader *reader = find(stage, &entry);
    unsigned level = entry.site->level;

    cr_expect_geq(entry.end, entry.time);
    trace_reader_close(reader);
    return level;
}

bool compilers_inside(const char *stage)
{
    struct trace_entry entry, span;
    struct trace_reader *reader = find(stage, &entry);
    bool inside = trace_reader_span(reader, entry.span, &span) &&
                  !strcmp(span.site->name, "build");

    trace_reader_close(reader);
    return inside;
}
