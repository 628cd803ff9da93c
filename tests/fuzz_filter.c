/* fuzz_filter.c: any bytes as a filter. */
#include <stdlib.h>
#include <string.h>

#include <testlog/log.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void ask(struct log_filter *filter)
{
    static const char *const targets[] = {"net::tcp", "", "gpu", "a"};
    struct trace_site site = {.level = TRACE_LEVEL_DEBUG};
    size_t from = 0;

    for (size_t i = 0; i < sizeof(targets) / sizeof(*targets); i++) {
        site.target = targets[i];
        log_filter_seen(filter, &site);
    }
    while (log_filter_unseen(filter, &from))
        ;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct trace_text complaints = {.ceiling = 1 << 20};
    char *text = malloc(size + 1);

    if (!text)
        return 0;
    if (size)
        memcpy(text, data, size);
    text[size] = '\0';

    struct log_filter *filter =
        log_filter_parse(text, "error", "LOG", &complaints);

    if (filter)
        ask(filter);
    log_filter_free(filter);
    trace_text_free(&complaints);
    free(text);
    return 0;
}
