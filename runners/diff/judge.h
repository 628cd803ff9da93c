/* judge.h: tells whether something became slower, or whether the noise is too
 * large to tell. Private.
 *
 * All measurements are natural logarithms, so that a difference is a ratio.
 */
#ifndef TESTLOG_JUDGE_H
#define TESTLOG_JUDGE_H

#include <stdbool.h>
#include <stddef.h>

struct percentiles;

/* X(NAME, word in JSON, text) */
#define RUNNERS_VERDICTS(X)                                                    \
    X(NOT_SLOWER, "not-slower", "not slower")                                  \
    X(TOO_NOISY, "too-noisy", "too noisy to tell")                             \
    X(SLOWER, "slower", "slower")

enum verdict {
#define RUNNERS_X(name, word, text) VERDICT_##name,
    RUNNERS_VERDICTS(RUNNERS_X)
#undef RUNNERS_X
        VERDICTS
};

/* runners_verdict_words has the word of each verdict in JSON. */
extern const char *const runners_verdict_words[VERDICTS];

/* X(NAME, value of --by, what is compared): of tests and the calls of spans. */
#define RUNNERS_MEASURES(X)                                                    \
    X(TIME, "time", "time")                                                    \
    X(CPU, "cpu", "processor time")                                            \
    X(INSTRUCTIONS, "instructions", "count of instructions")                   \
    X(MEMORY, "memory", "peak of memory")

enum measure {
#define RUNNERS_X(name, word, text) MEASURE_##name,
    RUNNERS_MEASURES(RUNNERS_X)
#undef RUNNERS_X
        MEASURES
};

/* runners_measure_texts has what is compared, and runners_measure_words the
 * words of --by, NULL at the end. */
extern const char *const runners_measure_texts[MEASURES];
extern const char *const runners_measure_words[MEASURES + 1];

/* The quantiles of calls that are compared: 5 %, which noise moves least, and
 * the median. */
enum { JUDGE_FAST, JUDGE_MEDIAN, JUDGE_PLACES };

/* The measurements of one run. */
struct measured_run {
    double places[JUDGE_PLACES];
    double errors[JUDGE_PLACES]; /* standard errors */
    double mean;                 /* of the calls */
    bool few;                    /* calls: their errors are unknown */
};

/* The measurements of one side. Repetitions of a run are runs, too, but
 * form a group: they vary together. */
struct measured_runs {
    struct measured_run *all;
    size_t count, capacity;
    size_t groups, last; /* how many, and the number of the last one */
};

/* runners_measure_calls adds a run with the durations of its calls, and
 * runners_measure_value adds one with a single value. Runs of a group,
 * which has a number, are added one after the other. -1 without memory. */
int runners_measure_calls(struct measured_runs *, size_t group,
                          const struct percentiles *);
int runners_measure_value(struct measured_runs *, size_t group, double value);

enum { JUDGE_MORE_MOST = 100 };

/* runners_over_least returns the share up to which a shift is none, unless
 * --fail-over says another. runners_excess_least returns how much more a test,
 * or else a call of a span, must use: times and counts include what testlog and
 * the kernel add. */
double runners_over_least(enum measure);
double runners_excess_least(enum measure, bool of_test);

/* How strict a judgement is. */
struct judge_rules {
    enum measure by;
    double over;        /* a shift up to it is none, such as 0.05 */
    size_t comparisons; /* that are made together */
};

struct judgement {
    enum verdict verdict;
    double medians[2];  /* of the old and the new runs; means if by_mean */
    double ratio;       /* of these */
    double noise;       /* of the ratio; 0: unknown, or none */
    unsigned more_runs; /* TOO_NOISY: that would tell, of each side; MORE_MOST:
                           or more; 0: unknown */
    bool by_mean;       /* the mean of the calls has decided */
};

/* runners_judge compares two sides, of which each has a run. It sorts their
 * runs.
 *
 * A median's standard error is that of J. W. McKean and R. M. Schrader, "A
 * Comparison of Methods for Studentizing the Sample Median", 1984, from the
 * order statistics of the calls. The error of runs is their standard deviation,
 * mixed with what equal runs on shared machines differ by, as prior knowledge;
 * see G. K. Smyth, "Linear Models and Empirical Bayes Methods", 2004. The error
 * of all comparisons together is 1 %, after C. E. Bonferroni.
 *
 * Counts of instructions have no error but what the runs of a side differ by.
 * The median of the calls or their mean decides: where some calls take longer
 * and others stay as they were, the mean alone grows. */
struct judgement runners_judge(struct measured_runs *before,
                               struct measured_runs *after,
                               const struct judge_rules *);

/* runners_may_be_slower tells whether something is too noisy to tell, and its
 * median is longer by more than `over`: that is listed. */
bool runners_may_be_slower(const struct judgement *, double over);

/* runners_student_quantile returns the value that Student's t, with so many
 * degrees of freedom, exceeds with a probability, which is at most 0.5. */
double runners_student_quantile(double probability, unsigned freedom);

#endif
