/* lost_records.c: prints which tests lost records. */
#include "find.h"
#include "harness/machine/notice.h"
#include "runners/runners.h"

void runners_losses_note(struct losses *losses,
                         const struct recording *recording,
                         const struct trace_reader *reader)
{
    struct trace_text text = {0};

    if (trace_reader_all_losses(&text, reader) && !losses->count++)
        trace_text_printf(&losses->first, "%s: %s", recording->test,
                          text.data ? text.data : "");
    trace_text_free(&text);
}

void runners_losses_say(struct losses *losses, const char *command)
{
    if (losses->count)
        test_log_notice("%s: records of %zu %s are missing: %s", command,
                        losses->count, losses->count == 1 ? "test" : "tests",
                        losses->first.data ? losses->first.data : "");
    trace_text_free(&losses->first);
}
