/* lazy_libgit2.c: stands in for libgit2 in `make test`, and loads the real one
 * when Criterion calls it. Loading libgit2 and the libraries that it needs
 * takes a third of a short test's time, and few tests compare texts.
 */
#include <dlfcn.h>
#include <stdlib.h>

static void *real(const char *name)
{
    static void *library;
    void *function;

    if (!library)
        library = dlopen(LIBGIT2, RTLD_LAZY | RTLD_LOCAL);
    function = library ? dlsym(library, name) : NULL;
    if (!function)
        abort();
    return function;
}

int git_libgit2_init(void)
{
    return ((int (*)(void))real(__func__))();
}

int git_libgit2_shutdown(void)
{
    return ((int (*)(void))real(__func__))();
}

int git_diff_buffers(const void *from, size_t from_size, const char *from_path,
                     const void *to, size_t to_size, const char *to_path,
                     const void *options, void (*file)(void),
                     void (*binary)(void), void (*hunk)(void),
                     void (*line)(void), void *payload)
{
    __typeof__(git_diff_buffers) *next = real(__func__);

    return next(from, from_size, from_path, to, to_size, to_path, options, file,
                binary, hunk, line, payload);
}
