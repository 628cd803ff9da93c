/* samples.h: reads the samples of a recording. Private to the project. */
#ifndef TRACE_SAMPLES_H
#define TRACE_SAMPLES_H

#include "trace/read/reader.h"

/* Where a thread was at a moment. */
struct trace_sample {
    uint64_t time;   /* ns since the recording's origin */
    uint64_t weight; /* ns of processor time that it stands for */
    const struct trace_thread *thread;
    uint32_t stack;
};

/* Where a reader of samples is; zero at the beginning. */
struct trace_sample_cursor {
    size_t block, at;
};

/* trace_reader_has_samples returns whether there are samples;
 * trace_reader_sample reads the next one, by thread, then time; false at the
 * end. */
bool trace_reader_has_samples(const struct trace_reader *);
bool trace_reader_sample(const struct trace_reader *,
                         struct trace_sample_cursor *, struct trace_sample *);

/* trace_reader_stack returns the number of a stack's frames, the innermost of
 * which comes first; 0 if it cannot be read. trace_reader_image reads the file
 * of a frame; false if it has none. */
size_t trace_reader_stack(const struct trace_reader *, uint32_t stack,
                          const struct trace_stack_frame **);
bool trace_reader_image(const struct trace_reader *, uint32_t image,
                        struct trace_module_file *);

/* trace_name_frame adds the name of a frame's function, or of its file and its
 * place there, and tells what is known of the function. */
void trace_name_frame(struct trace_text *, const struct trace_reader *,
                      const struct trace_stack_frame *,
                      struct trace_function_name *);

#endif
