/* e2e.c: runs programs as users do, and reads their output. */
#include "e2e.h"
#include "support.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <regex.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/trace.h>

enum { TIME_LIMIT = 250 * 1000, SOAK_LIMIT = 3600 * 1000 };

__attribute__((format(printf, 1, 0))) static char *text_of(const char *format,
                                                           va_list args)
{
    char *text = NULL;

    cr_assert_geq(vasprintf(&text, format, args), 0);
    return test_keep(text);
}

__attribute__((format(printf, 1, 2))) static char *join(const char *format, ...)
{
    va_list args;
    char *text;

    va_start(args, format);
    text = text_of(format, args);
    va_end(args);
    return text;
}

/* ---- Folders ---- */

static char folder[PATH_MAX];
static pid_t folder_owner;

static void remove_folder(void)
{
    if (folder_owner == getpid() && !getenv("E2E_KEEP"))
        test_remove_tree(folder);
}

void e2e_folder_make(void)
{
    const char *base = getenv("TMPDIR");

    snprintf(folder, sizeof(folder), "%s/testlog-e2e-XXXXXX",
             base && *base ? base : "/tmp");
    if (!mkdtemp(folder)) {
        perror(folder);
        return;
    }
    setenv("E2E_FOLDER", folder, 1);
    folder_owner = getpid();
    atexit(remove_folder);
}

static const char *common(void)
{
    const char *path = getenv("E2E_FOLDER");

    cr_assert_not_null(path, "E2E_FOLDER is not set");
    return path;
}

void e2e_begin(void)
{
    const char *path =
        join("%s/%s.%s", common(), criterion_current_test->category,
             criterion_current_test->name);

    cr_assert_eq(mkdir(path, 0777), 0, "%s: %s", path, strerror(errno));
    cr_assert_eq(chdir(path), 0);
}

void e2e_begin_gpu(void)
{
    e2e_begin();
    cr_assert_eq(mkdir("root", 0777) | mkdir("root/dev", 0777), 0);
    fclose(fopen("root/dev/nvidiactl", "we"));
}

void e2e_need(const char *tool)
{
    if (e2e_run("command -v %s", tool)->code)
        cr_skip_test("%s is not installed", tool);
}

/* ---- Running ---- */

static char **environment(void)
{
    /* Criterion's runner leaks a theory's arguments. Our own leaks are found in
     * the programs that contain these tests. */
    static char fixed[][32] = {"TERM=dumb", "LC_ALL=C.UTF-8",
                               "ASAN_OPTIONS=detect_leaks=0"};
    static const char *const same[] = {"PATH",          "HOME",
                                       "TMPDIR",        "LD_LIBRARY_PATH",
                                       "UBSAN_OPTIONS", "TESTLOG_MUTANT"};
    enum { SAME = sizeof(same) / sizeof(*same) };
    static char *all[SAME + 4];
    size_t count = 0;

    for (size_t i = 0; i < SAME; i++)
        if (getenv(same[i]))
            all[count++] = join("%s=%s", same[i], getenv(same[i]));
    for (size_t i = 0; i < sizeof(fixed) / sizeof(*fixed); i++)
        all[count++] = fixed[i];
    all[count] = NULL;
    return all;
}

static pid_t start(const char *where, const char *command, int out, int err)
{
    char **variables = environment();
    pid_t child = fork();

    cr_assert_geq(child, 0);
    if (child)
        return child;
    setpgid(0, 0);
    signal(SIGHUP, SIG_DFL); /* nohup ignores it */
    signal(SIGINT, SIG_DFL); /* a shell's background job ignores these */
    signal(SIGQUIT, SIG_DFL);
    if (dup2(open("/dev/null", O_RDONLY | O_CLOEXEC), STDIN_FILENO) < 0 ||
        dup2(out, STDOUT_FILENO) < 0 || dup2(err, STDERR_FILENO) < 0 ||
        chdir(where))
        _exit(126);
    execle("/bin/sh", "sh", "-c", command, NULL, variables);
    _exit(127);
}

static int time_limit = TIME_LIMIT;

void e2e_allow(int seconds)
{
    time_limit = 1000 * seconds;
}

/* Waits for a command, up to a limit. */
static int finish(pid_t child, const char *command)
{
    struct pollfd end = {.fd = pidfd_open(child, 0), .events = POLLIN};
    int status = 0, limit = getenv("SOAK") ? SOAK_LIMIT : time_limit;
    bool late = end.fd < 0 || poll(&end, 1, limit) != 1;

    if (late) {
        kill(-child, SIGKILL);
        kill(child, SIGKILL);
    }
    close(end.fd);
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert_not(late, "took too long: %s", command);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static int create(const char *path)
{
    int fd =
        open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);

    cr_assert_geq(fd, 0, "%s: %s", path, strerror(errno));
    return fd;
}

static struct e2e *new_result(const char *where, const char *command)
{
    struct e2e *result = test_keep(calloc(1, sizeof(*result)));

    snprintf(result->folder, sizeof(result->folder), "%s", where);
    snprintf(result->command, sizeof(result->command), "%s", command);
    return result;
}

/* Runs a command; its output goes to files beside its folder, which other tests
 * may use at the same time. */
static const struct e2e *run(const char *where, const char *command)
{
    static unsigned number;
    struct e2e *result = new_result(where, command);
    const char *out = join("%s.%d.out%u", where, getpid(), number);
    const char *err = join("%s.%d.err%u", where, getpid(), number++);
    int fds[2] = {create(out), create(err)};

    result->code = finish(start(where, command, fds[0], fds[1]), command);
    close(fds[0]);
    close(fds[1]);
    result->out = e2e_read("%s", out);
    result->err = e2e_read("%s", err);
    return result;
}

const struct e2e *e2e_run(const char *format, ...)
{
    va_list args;
    char *command, *here = test_keep(getcwd(NULL, 0));

    va_start(args, format);
    command = text_of(format, args);
    va_end(args);
    return run(here, command);
}

const struct e2e *e2e_exits(int code, const char *format, ...)
{
    const struct e2e *result;
    va_list args;

    va_start(args, format);
    result = e2e_run("%s", text_of(format, args));
    va_end(args);
    e2e_expect_code(result, code);
    return result;
}

/* ---- Once for all tests ---- */

static int lock(const char *name)
{
    int fd = open(join("%s/%s.lock", common(), name),
                  O_RDWR | O_CREAT | O_CLOEXEC, 0666);

    cr_assert_geq(fd, 0);
    while (flock(fd, LOCK_EX))
        cr_assert_eq(errno, EINTR);
    return fd;
}

static void save(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static const struct e2e *recall(const char *where, const char *command)
{
    struct e2e *result = new_result(where, command);

    result->out = e2e_read("%s.out", where);
    result->err = e2e_read("%s.err", where);
    result->code = atoi(e2e_read("%s.code", where));
    return result;
}

const struct e2e *e2e_once(const char *key, const char *format, ...)
{
    const char *where = join("%s/%s", common(), key), *command;
    int fd = lock(key);
    va_list args;

    va_start(args, format);
    command = text_of(format, args);
    va_end(args);
    if (!e2e_exists("%s.code", where)) {
        const struct e2e *result;

        cr_assert(!mkdir(where, 0777) || errno == EEXIST);
        result = run(where, command);
        save(join("%s.out", where), result->out);
        save(join("%s.err", where), result->err);
        save(join("%s.code", where), join("%d", result->code));
    }
    close(fd);
    return recall(where, command);
}

/* PREFIX is compiled in: a copy leaves the files of other tests alone. */
void e2e_install(void)
{
    const struct e2e *installed;

    if (e2e_run("command -v pkg-config")->code)
        cr_skip_test("no pkg-config");
    if (strcmp(strrchr(BUILD_DIR, '/'), "/base"))
        cr_skip_test("only default builds are installed");
    installed = e2e_once(
        "installed",
        "mkdir -p copy/build/base && (cd '" SOURCE_DIR
        "' && cp -a GNUmakefile meson.build testlog*.pc.in trace log harness "
        "runners examples tests \"$OLDPWD/copy\") && (cd '" BUILD_DIR
        "' && cp -a include trace log harness runners gpu shared flags prefix "
        "testlog* libtestlog* \"$OLDPWD/copy/build/base\") && "
        "make -s -C copy install PREFIX=$PWD/opt TRACING=0");
    e2e_expect_code(installed, 0);
    e2e_expect_code(e2e_run("ln -s '%s/opt' opt", installed->folder), 0);
}

/* The path of a program that make has built, in one of its ways. */
static const char *built(const char *way, const char *name)
{
    const char *path = join(BUILD_DIR "/tests/programs/%s/%s", way, name);

    if (!e2e_exists("%s", path))
        cr_skip_test("%s is not built: make found no header or library for it",
                     path);
    return path;
}

const char *e2e_program(const char *name, enum e2e_build build)
{
    static const char *const ways[] = {
        [E2E_PLAIN] = "plain",
        [E2E_TRACED] = "traced",
        [E2E_INFO] = "info",
        [E2E_ALL] = "all",
        [E2E_TRACED_ALL] = "traced-all",
        [E2E_CORE] = "core",
    };

    return built(ways[build], join("%s_test", name));
}

void e2e_link(const char *name, enum e2e_build build, const char *path)
{
    cr_assert_eq(symlink(e2e_program(name, build), path), 0, "%s: %s", path,
                 strerror(errno));
}

const struct e2e *e2e_interrupt(const char *program)
{
    return e2e_run("( (until ls testlog-runs/latest/tests/*/waits.for_ever/"
                   "recording; do sleep 0.1; done; kill -INT $$) >/dev/null "
                   "2>&1 & ); exec env --default-signal=INT %s --filter "
                   "waits/for_ever",
                   program);
}

const char *e2e_any(const char *name)
{
    return built("any", name);
}

const char *e2e_stub(void)
{
    return built("stub", "libtestlog-gpu.so");
}

/* ---- Write by write ---- */

static const char *receive(int fd)
{
    struct trace_text text = {0};
    char bytes[65536];
    ssize_t size;

    while ((size = recv(fd, bytes, sizeof(bytes), 0)) > 0) {
        trace_text_add(&text, bytes, (size_t)size);
        trace_text_char(&text, '\036');
    }
    cr_assert_eq(size, 0, "%s", strerror(errno));
    return text.data ? test_keep(text.data) : "";
}

const struct e2e *e2e_writes(const char *format, ...)
{
    struct timeval limit = {TIME_LIMIT / 1000, 0};
    struct e2e *result;
    int fds[2];
    va_list args;
    pid_t child;

    va_start(args, format);
    result = new_result(".", text_of(format, args));
    va_end(args);
    /* This kind of socket keeps the boundaries of writes. */
    cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fds), 0);
    setsockopt(fds[0], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
    child = start(".", result->command, fds[1], fds[1]);
    close(fds[1]);
    result->out = receive(fds[0]);
    result->err = "";
    close(fds[0]);
    result->code = finish(child, result->command);
    return result;
}

void e2e_script(const char *name, const char *commands)
{
    FILE *file = fopen(name, "we");

    cr_assert_not_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", commands);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(chmod(name, 0755), 0);
}

/* ---- Reading ---- */

const char *e2e_read(const char *format, ...)
{
    struct trace_text text = {0};
    char bytes[8192], *path;
    va_list args;
    size_t size;
    FILE *file;

    va_start(args, format);
    path = text_of(format, args);
    va_end(args);
    file = fopen(path, "re");
    cr_assert_not_null(file, "%s: %s", path, strerror(errno));
    trace_text_string(&text, "");
    while ((size = fread(bytes, 1, sizeof(bytes), file)))
        trace_text_add(&text, bytes, size);
    fclose(file);
    if (!text.size)
        return "";
    return test_keep(text.data);
}

static void *held_json[64];
static size_t held_json_count;

const cJSON *e2e_json(const char *format, ...)
{
    va_list args;
    const char *path;
    cJSON *json;

    va_start(args, format);
    path = text_of(format, args);
    va_end(args);
    json = cJSON_Parse(e2e_read("%s", path));
    cr_assert_not_null(json, "%s is not JSON: %.200s", path,
                       cJSON_GetErrorPtr());
    held_json[held_json_count++ % 64] = json;
    return json;
}

const char *e2e_text(const cJSON *object, const char *member)
{
    const char *text =
        cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(object, member));

    return text ? text : "";
}

double e2e_number(const cJSON *object, const char *member)
{
    const cJSON *item = cJSON_GetObjectItemCaseSensitive(object, member);

    cr_assert(cJSON_IsNumber(item), "%s is not a number", member);
    return item->valuedouble;
}

bool e2e_exists(const char *format, ...)
{
    va_list args;
    const char *path;

    va_start(args, format);
    path = text_of(format, args);
    va_end(args);
    return !access(path, F_OK);
}

const cJSON *e2e_result(const cJSON *run, const char *name)
{
    const cJSON *test, *found = NULL;

    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(run, "tests"))
    {
        if (!strcmp(e2e_text(test, "name"), name))
            found = test;
    }
    cr_assert_not_null(found, "run.json has no %s", name);
    return found;
}

const cJSON *e2e_run_json(void)
{
    return e2e_json("testlog-runs/latest/run.json");
}

const cJSON *e2e_latest(const char *name)
{
    return e2e_result(e2e_run_json(), name);
}

size_t e2e_results(const cJSON *run, const char *name)
{
    const cJSON *test;
    size_t count = 0;

    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(run, "tests"))
    {
        count += !strcmp(e2e_text(test, "name"), name);
    }
    return count;
}

size_t e2e_count(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

static const char *line_at(const char *text, const char *at)
{
    const char *begin = at;

    while (begin > text && begin[-1] != '\n')
        begin--;
    return join("%.*s", (int)strcspn(begin, "\n"), begin);
}

const char *e2e_last(const char *text)
{
    size_t size = strlen(text);

    return size ? line_at(text, text + size - 1) : "";
}

const char *e2e_line(const char *text, const char *part)
{
    const char *at = strstr(text, part);

    return at ? line_at(text, at) : "";
}

const char *e2e_between(const char *text, const char *from, const char *to)
{
    const char *begin = strstr(text, from), *end;

    if (!begin)
        return "";
    begin += strlen(from);
    end = strstr(begin, to);
    return end ? join("%.*s", (int)(end - begin), begin) : "";
}

const char *e2e_block(const struct e2e *run, const char *name)
{
    return e2e_between(run->err, join("---- %s: ", name), "\n\n");
}

/* Replaces every match of a regular expression with a word. */
static const char *replace(const char *text, const char *pattern,
                           const char *word)
{
    struct trace_text out = {0};
    regmatch_t match;
    regex_t regex;
    int flags = 0;

    cr_assert_eq(regcomp(&regex, pattern, REG_EXTENDED | REG_NEWLINE), 0);
    trace_text_string(&out, "");
    while (!regexec(&regex, text, 1, &match, flags) && match.rm_eo) {
        trace_text_add(&out, text, (size_t)match.rm_so);
        trace_text_string(&out, word);
        text += match.rm_eo;
        flags = REG_NOTBOL;
    }
    trace_text_string(&out, text);
    regfree(&regex);
    return out.size ? test_keep(out.data) : "";
}

const char *e2e_normal(const char *text)
{
    static const char *const words[][2] = {
        {"[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}-[0-9]{2}-[0-9]{2}\\.[0-9]{6}",
         "RUN"},
        {"([0-9]{4}-[0-9]{2}-[0-9]{2}T)?[0-9]{2}:[0-9]{2}:[0-9]{2}"
         "\\.[0-9]{6}Z",
         "TIME"},
        {"\\([0-9]+\\.[0-9]+s\\)", "(SECONDS)"},
        {"\ntime: [0-9]+\\.[0-9]+ s\n", "\ntime: SECONDS\n"},
        {"\\.c:[0-9]+", ".c:LINE"},
        {"^([a-z_0-9]+) [0-9]+: ", "THREAD: "},
        {"0x[0-9a-f]+", "ADDRESS"},
    };

    for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
        text = replace(text, words[i][0], words[i][1]);
    return text;
}

void e2e_expect_code(const struct e2e *result, int code)
{
    cr_expect_eq(result->code, code, "%s: exit code %d instead of %d\n%.4000s",
                 result->command, result->code, code, result->err);
}

void e2e_expect_closing(const struct e2e *result, const char *line)
{
    const char *out = result->out + (result->out[0] == '\n');

    cr_expect(!strcmp(out, join("%s\n", line)), "%s: \"%s\" instead of %s",
              result->command, result->out, line);
}

void e2e_expect_parts(const char *text, bool has, const char *const *parts)
{
    for (; *parts; parts++)
        cr_expect_eq(strstr(text, *parts) != NULL, has,
                     "\"%s\" is %sin:\n%.4000s", *parts, has ? "not " : "",
                     text);
}

void e2e_expect_is(const char *text, const char *expected)
{
    cr_expect(!strcmp(text, expected), "this:\n%.4000s\ninstead of:\n%.4000s",
              text, expected);
}

bool e2e_sanitized(void)
{
    return strstr(SANITIZE_FLAGS, "address") != NULL;
}
