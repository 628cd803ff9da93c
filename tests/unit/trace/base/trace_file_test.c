/* trace_file_test.c: files appear complete or not at all. */
#include "tests/support/support.h"

#include "trace/base/file.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

TestSuite(trace_file, .init = test_folder);

static size_t count_files(void)
{
    DIR *dir = opendir(test_path("."));
    size_t count = 0;

    cr_assert_not_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

static void expect_content(const char *path, const char *expected)
{
    cr_expect_str_eq(test_load(path, NULL), expected);
}

Test(trace_file, appears_when_committed)
{
    struct trace_file file;
    const char *path = test_path("file");

    test_save(path, "old", 3);
    cr_assert_eq(trace_file_open(&file, path), 0);
    fputs("new", file.stream);
    fflush(file.stream);
    expect_content(path, "old");
    cr_expect_eq(trace_file_commit(&file), 0);
    cr_expect_null(file.stream);
    expect_content(path, "new");
    cr_expect_eq(count_files(), 1);
}

Test(trace_file, leaves_nothing_when_abandoned)
{
    struct trace_file file;

    cr_assert_eq(trace_file_open(&file, test_path("file")), 0);
    fputs("new", file.stream);
    trace_file_abandon(&file);
    trace_file_abandon(&file);
    cr_expect_eq(count_files(), 0);
}

Test(trace_file, fails_without_a_folder)
{
    struct trace_file file;

    cr_expect_eq(trace_file_open(&file, test_path("missing/file")), -1);
    cr_expect_eq(errno, ENOENT);
    cr_expect_null(file.stream);
    trace_file_abandon(&file);
}

Test(trace_file, removes_the_part_file_if_renaming_fails)
{
    struct trace_file file;

    cr_assert_eq(trace_file_open(&file, test_path("file")), 0);
    cr_assert_eq(mkdir(test_path("file"), 0777), 0);
    cr_expect_eq(trace_file_commit(&file), -1);
    cr_expect_eq(errno, EISDIR);
    cr_expect_eq(count_files(), 1);
}

static void die_while_writing(void)
{
    struct trace_file file;

    if (trace_file_open(&file, test_path("file")))
        _exit(1);
    fputs("new", file.stream);
    fflush(file.stream);
    raise(SIGKILL);
}

/* Other file systems keep the file under its other name. */
Test(trace_file, leaves_nothing_when_killed)
{
    int fd = open(test_path("."), O_TMPFILE | O_WRONLY, 0600);

    if (fd < 0)
        cr_skip_test("no files without a name here: %s", strerror(errno));
    close(fd);
    cr_expect_eq(test_child(die_while_writing), SIGKILL);
    cr_expect_eq(count_files(), 0);
    test_save(test_path("file"), "old", 3);
    cr_expect_eq(test_child(die_while_writing), SIGKILL);
    cr_expect_eq(count_files(), 1);
    expect_content(test_path("file"), "old");
}

/* Writes beyond the size limit: fails immediately, or only when the file is
 * closed. */
static void fail_to_write(size_t bytes)
{
    struct rlimit limit = {64, 64};
    struct trace_file file;

    signal(SIGXFSZ, SIG_IGN);
    if (setrlimit(RLIMIT_FSIZE, &limit) ||
        trace_file_open(&file, test_path("file")))
        _exit(1);
    for (size_t i = 0; i < bytes; i++)
        fputc('x', file.stream);
    if (trace_file_commit(&file) != -1 || !errno)
        _exit(2);
}

static void fail_early(void)
{
    fail_to_write(100000);
}

static void fail_late(void)
{
    fail_to_write(100);
}

Test(trace_file, keeps_the_old_file_if_a_write_fails)
{
    test_save(test_path("file"), "old", 3);
    cr_expect_eq(test_child(fail_early), 0);
    cr_expect_eq(test_child(fail_late), 0);
    expect_content(test_path("file"), "old");
    cr_expect_eq(count_files(), 1);
}

Test(trace_file, survives_a_lack_of_memory)
{
    struct trace_file file;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (size_t nth = 1; nth < 6; nth++) {
        test_fail_memory(nth, true);
        if (!trace_file_open(&file, test_path("file")))
            trace_file_abandon(&file);
        test_fail_memory(0, false);
        cr_expect_null(file.stream);
    }
    cr_expect_eq(count_files(), 0);
}

/* ---- Paths that are not regular files ---- */

Test(trace_file, writes_into_a_fifo)
{
    struct trace_file file;
    const char *path = test_path("pipe");
    char text[8] = "";
    int fd;

    cr_assert_eq(mkfifo(path, 0600), 0);
    fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    cr_assert_geq(fd, 0);
    cr_assert_eq(trace_file_open(&file, path), 0);
    fputs("text", file.stream);
    cr_expect_eq(trace_file_commit(&file), 0);
    cr_expect_eq(read(fd, text, sizeof(text)), 4);
    cr_expect_str_eq(text, "text");
    cr_expect_eq(count_files(), 1);
    close(fd);
}

Test(trace_file, writes_through_a_link)
{
    struct stat status;
    struct trace_file file;
    const char *path = test_path("link"), *target = test_path("target");

    test_save(target, "old", 3);
    cr_assert_eq(symlink("target", path), 0);
    cr_assert_eq(trace_file_open(&file, path), 0);
    fputs("new", file.stream);
    cr_expect_eq(trace_file_commit(&file), 0);
    expect_content(target, "new");
    cr_expect_eq(lstat(path, &status), 0);
    cr_expect(S_ISLNK(status.st_mode));
}

Test(trace_file, refuses_a_folder)
{
    struct trace_file file;

    cr_assert_eq(mkdir(test_path("folder"), 0700), 0);
    cr_expect_eq(trace_file_open(&file, test_path("folder")), -1);
    cr_expect_eq(errno, EISDIR);
}

Test(trace_file, returns_all_bytes_of_a_file)
{
    int fd = open(test_path("bytes"), O_RDWR | O_CREAT, 0600);
    size_t size = 9;
    char *bytes;

    bytes = trace_file_bytes(fd, 4, &size);
    cr_assert_not_null(bytes);
    cr_expect_eq(size, 0);
    cr_expect_str_eq(bytes, "");
    free(bytes);
    cr_assert_eq(write(fd, "a\0bc", 4), 4);
    bytes = trace_file_bytes(fd, 4, &size);
    cr_assert_not_null(bytes);
    cr_expect_eq(size, 4);
    cr_expect_arr_eq(bytes, "a\0bc", 5);
    free(bytes);
    errno = 0;
    cr_expect_null(trace_file_bytes(fd, 3, &size));
    cr_expect_eq(errno, EFBIG);
    cr_expect_null(trace_file_bytes(-1, 4, &size));
    close(fd);
}

/* ---- Space ---- */

/* Makes a system call fail, as a container does. */
static void forbid(uint32_t call, uint32_t error)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | error),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(*code), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        cr_skip_test("no seccomp here: %m");
}

static void expect_allocated(uint32_t error)
{
    int fd = open(test_path("space"), O_RDWR | O_CREAT, 0600);
    struct stat status;
    char bytes[2] = "";

    cr_assert_eq(pwrite(fd, "ab", 2, 4099), 2);
    forbid(SYS_fallocate, error);
    cr_expect_neq(posix_fallocate(fd, 0, 1), 0);
    cr_expect_eq(trace_allocate(fd, 4100, 1 << 20), 0);
    cr_assert_eq(fstat(fd, &status), 0);
    cr_expect_eq(status.st_size, 4100 + (1 << 20));
    cr_expect_geq(status.st_blocks * 512, 1 << 20);
    cr_expect_eq(pread(fd, bytes, 2, 4099), 2);
    cr_expect_arr_eq(bytes, "ab", 2);
    close(fd);
}

Test(trace_file, allocates_where_a_container_forbids_it)
{
    expect_allocated(EPERM);
}

Test(trace_file, allocates_where_a_container_does_not_know_it)
{
    expect_allocated(ENOSYS);
}
