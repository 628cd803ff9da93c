/* launch_losses.c: counts launches, and says how many were lost. */
#include <stdio.h>

#include "decoder.h"
#include "trace/base/text.h"

void cupti_note_number(const struct cupti_decoder *decoder, const char *name,
                       uint64_t number)
{
    char text[32];

    snprintf(text, sizeof(text), "%llu", (unsigned long long)number);
    decoder->sink->note(decoder->context, name, text);
}

void cupti_note_losses(struct cupti_decoder *decoder)
{
    const struct cupti_counts *counts = &decoder->counts;
    const struct {
        const char *name;
        uint64_t count;
    } rows[] = {
        {"gpu.launches", counts->launches},
        {"gpu.launched", counts->launched},
        {"gpu.captured", counts->captured},
        {"gpu.lost", counts->lost},
        {"gpu.orphans", counts->orphans},
        {"gpu.dropped", counts->dropped},
        {"gpu.undecoded", counts->undecoded},
        {"gpu.bad_times", counts->bad_times},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cupti_note_number(decoder, rows[i].name, rows[i].count);
}

static bool has_losses(const struct cupti_counts *counts)
{
    return counts->lost || counts->orphans || counts->dropped ||
           counts->undecoded || counts->bad_times;
}

/* Warns again only if the counts have grown. */
void cupti_say_losses(struct cupti_decoder *decoder)
{
    const struct cupti_counts *counts = &decoder->counts;
    struct trace_text text = {0};

    if (!has_losses(counts) ||
        !memcmp(counts, &decoder->said.losses, sizeof(*counts)))
        return;
    decoder->said.losses = *counts;
    trace_text_printf(&text,
                      "%llu launch%s no kernel record; %llu dropped, %llu "
                      "undecoded",
                      (unsigned long long)counts->lost,
                      counts->lost == 1 ? " has" : "es have",
                      (unsigned long long)counts->dropped,
                      (unsigned long long)counts->undecoded);
    if (counts->orphans)
        trace_text_printf(&text, ", %llu without a call",
                          (unsigned long long)counts->orphans);
    if (counts->bad_times)
        trace_text_printf(&text, ", %llu without times",
                          (unsigned long long)counts->bad_times);
    if (!text.failed)
        decoder->sink->say(decoder->context, TRACE_LEVEL_WARN, text.data);
    trace_text_free(&text);
}

void cupti_count_again(struct cupti_decoder *decoder)
{
    decoder->counts =
        (struct cupti_counts){.plausible = decoder->counts.plausible,
                              .implausible = decoder->counts.implausible};
    cupti_note_losses(decoder);
}
