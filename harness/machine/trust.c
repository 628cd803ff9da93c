/* trust.c: decides which other users' files are trusted like our own.
 *
 * The owners of the test program and of the folders above it can replace the
 * program, so they can make us do anything already. So root in a container may
 * use the files of the user whose checkout it tests, but not those of a user
 * who only put a folder in its way.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"

enum { PROGRAMS = 64 };

static char *programs[PROGRAMS]; /* that `testlog run` starts */
static size_t program_count;

void test_log_trust_program(const char *path)
{
    char *real = program_count < PROGRAMS && path ? realpath(path, NULL) : NULL;

    if (real)
        programs[program_count++] = real;
}

void test_log_trust_end(void)
{
    while (program_count)
        free(programs[--program_count]);
}

/* Shortens an absolute path to that of its folder; false at the root. */
static bool go_up(char *path)
{
    char *slash = strrchr(path, '/');

    if (!slash || !slash[1])
        return false;
    slash[slash == path] = '\0';
    return true;
}

static bool has_owner(const char *program, uid_t user)
{
    char path[PATH_MAX];
    struct stat status;

    snprintf(path, sizeof(path), "%s", program);
    do {
        if (!stat(path, &status) && status.st_uid == user)
            return true;
    } while (go_up(path));
    return false;
}

static bool owns_program(uid_t user)
{
    char *program = realpath("/proc/self/exe", NULL);
    bool owns = program && has_owner(program, user);

    free(program);
    for (size_t i = 0; !owns && i < program_count; i++)
        owns = has_owner(programs[i], user);
    return owns;
}

/* Whether the user has become root by sudo. */
static bool called_sudo(uid_t user)
{
    const char *given = geteuid() ? NULL : test_log_variable("SUDO_UID");
    char *end;
    unsigned long number = given ? strtoul(given, &end, 10) : 0;

    return number && !*end && number == user;
}

bool test_log_trusts(uid_t user)
{
    return !user || user == geteuid() || called_sudo(user) ||
           owns_program(user);
}

/* ---- Folders and files ---- */

bool test_log_trusts_folder(const char *path, uid_t *owner)
{
    struct stat link, folder;

    if (lstat(path, &link) || stat(path, &folder))
        return true; /* it does not exist */
    *owner = test_log_trusts(link.st_uid) ? folder.st_uid : link.st_uid;
    return test_log_trusts(*owner);
}

/* A group with its user's number has no other member, and root is trusted to
 * choose its groups. */
static bool others_write(const struct stat *status)
{
    return (status->st_mode & S_IWOTH) ||
           ((status->st_mode & S_IWGRP) && status->st_uid &&
            status->st_gid != status->st_uid);
}

bool test_log_trusts_file(const char *path)
{
    char at[PATH_MAX];
    struct stat status;
    size_t depth = 0;

    if (snprintf(at, sizeof(at), "%s", path) >= PATH_MAX || at[0] != '/')
        return false;
    do {
        if (stat(at, &status) || !test_log_trusts(status.st_uid))
            return false;
        /* In a sticky folder only the owner of a file can replace it. */
        if (others_write(&status) && (depth < 2 || !(status.st_mode & S_ISVTX)))
            return false;
        depth++;
    } while (go_up(at));
    return true;
}
