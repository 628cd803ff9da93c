/* judge.c: tells whether something became slower, or whether the noise is too
 * large to tell.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "judge.h"
#include "runners/stat/stat.h"
#include "trace/base/containers.h"

enum {
    CALLS_LEAST = 5,    /* in a run, to know its error */
    FREEDOM_LEAST = 4,  /* of the deviation of runs with fewer calls */
    FREEDOM_SINGLE = 4, /* of single times, at most */
    FREEDOM_MANY = 10,  /* of that which makes the fast calls dispensable */
};

static const double shares[JUDGE_PLACES] = {0.05, 0.5};

/* The prior knowledge of equal runs: how much they differ, and for how many
 * degrees of freedom that counts; `freedom_few` if the runs have few calls. */
static const struct prior {
    double deviation, freedom, freedom_few;
} priors[MEASURES] = {
    [MEASURE_TIME] = {0.05, 20, 2},
    [MEASURE_CPU] = {0.05, 20, 2},
    [MEASURE_MEMORY] = {0.01, 20, 20},
};
static const double error_of_all = 0.01;

const char *const runners_measure_words[MEASURES + 1] = {
#define RUNNERS_X(name, word, text) word,
    RUNNERS_MEASURES(RUNNERS_X)
#undef RUNNERS_X
};

const char *const runners_measure_texts[MEASURES] = {
#define RUNNERS_X(name, word, text) text,
    RUNNERS_MEASURES(RUNNERS_X)
#undef RUNNERS_X
};

const char *const runners_verdict_words[VERDICTS] = {
#define RUNNERS_X(name, word, text) word,
    RUNNERS_VERDICTS(RUNNERS_X)
#undef RUNNERS_X
};

double runners_over_least(enum measure by)
{
    return by == MEASURE_INSTRUCTIONS ? 0.005 : 0.05;
}

double runners_excess_least(enum measure by, bool of_test)
{
    static const struct {
        double tests, calls;
    } excesses[MEASURES] = {
        [MEASURE_TIME] = {1e6, 0},
        [MEASURE_CPU] = {1e6, 0},
        [MEASURE_INSTRUCTIONS] = {5000, 500},
        [MEASURE_MEMORY] = {1 << 20, 0},
    };

    return of_test ? excesses[by].tests : excesses[by].calls;
}

/* ---- Measuring ---- */

/* Durations of 0 ns count as 1 ns. */
static double log_of(double time)
{
    return log(time < 1 ? 1 : time);
}

/* Returns the standard error of an order statistic: the distance of those that
 * enclose it with a probability of 99 %, in standard errors. */
static double error_of(const struct percentiles *calls, double share)
{
    static const double width = 2.5758; /* of a normal distribution */
    double count = (double)calls->count;
    double reach = width * sqrt(count * share * (1 - share)) / count;
    double least = fmax(share - reach, 0), most = fmin(share + reach, 1);

    return (log_of((double)runners_percentiles_quantile(calls, most)) -
            log_of((double)runners_percentiles_quantile(calls, least))) /
           (2 * width);
}

/* Returns the logarithm of an order statistic. A median is in the middle of two
 * if there is no middle one. */
static double place_in(const struct percentiles *calls, int place)
{
    double count = (double)calls->count, rank = ceil(shares[place] * count);
    double other = place == JUDGE_MEDIAN ? count - rank + 1 : rank;

    return (log_of((double)runners_percentiles_quantile(calls, rank / count)) +
            log_of(
                (double)runners_percentiles_quantile(calls, other / count))) /
           2;
}

static int add_run(struct measured_runs *runs, size_t group,
                   const struct measured_run *run)
{
    if (!TRACE_ARRAY_RESERVE(runs->all, runs->capacity, runs->count + 1))
        return -1;
    runs->groups += !runs->count || group != runs->last;
    runs->last = group;
    runs->all[runs->count++] = *run;
    return 0;
}

int runners_measure_calls(struct measured_runs *runs, size_t group,
                          const struct percentiles *calls)
{
    struct measured_run run = {
        .few = calls->count < CALLS_LEAST,
        .mean = log_of((double)calls->total / (double)calls->count)};

    for (int i = 0; i < JUDGE_PLACES; i++) {
        run.places[i] = place_in(calls, i);
        run.errors[i] = run.few ? 0 : error_of(calls, shares[i]);
    }
    return add_run(runs, group, &run);
}

int runners_measure_value(struct measured_runs *runs, size_t group,
                          double value)
{
    double place = log_of(value);
    const struct measured_run run = {{place, place}, {0, 0}, place, true};

    return add_run(runs, group, &run);
}

/* ---- Student's t ---- */

/* Returns the probability that |t| does not exceed a value: see formulas 26.7.3
 * and 26.7.4 in M. Abramowitz and I. A. Stegun, "Handbook of Mathematical
 * Functions", 1964. */
static double student_within(double t, unsigned freedom)
{
    double angle = atan(t / sqrt(freedom)), square = cos(angle) * cos(angle);
    bool odd = freedom % 2;
    double term = odd ? sin(angle) * cos(angle) : sin(angle), sum = 0;

    for (unsigned i = odd ? 3 : 2; i <= freedom; i += 2) {
        sum += term;
        term *= square * (i - 1) / i;
    }
    return odd ? (angle + sum) * M_2_PI : sum;
}

static double find_quantile(double probability, unsigned freedom)
{
    double low = 0, high = 1e9;

    for (int i = 0; i < 100; i++) {
        double middle = (low + high) / 2;

        if (1 - student_within(middle, freedom) > 2 * probability)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* All tests, or spans, of two runs have the same probability. */
double runners_student_quantile(double probability, unsigned freedom)
{
    static double last, known[256];

    if (freedom >= sizeof(known) / sizeof(*known))
        return find_quantile(probability, freedom);
    if (probability < last || probability > last)
        memset(known, 0, sizeof(known));
    last = probability;
    if (!(known[freedom] > 0))
        known[freedom] = find_quantile(probability, freedom);
    return known[freedom];
}

/* ---- Judging ---- */

static int by_place(const void *a, const void *b, void *place)
{
    const struct measured_run *x = a, *y = b;
    double first = x->places[*(const int *)place];
    double second = y->places[*(const int *)place];

    return first < second ? -1 : first > second;
}

/* A place, as the runs of one side estimate it. */
struct estimate {
    double place;
    double error;   /* the variance that the calls of a run leave, on average */
    double squares; /* of the runs' distances to their mean */
};

static struct estimate estimate(struct measured_runs *runs, int place)
{
    size_t count = runs->count, rank = (size_t)ceil(shares[place] * count);
    size_t other = place == JUDGE_MEDIAN ? count - rank : rank - 1;
    struct estimate one = {.place = 0};
    double mean = 0;

    qsort_r(runs->all, count, sizeof(*runs->all), by_place, &place);
    one.place =
        (runs->all[rank - 1].places[place] + runs->all[other].places[place]) /
        2;
    for (size_t i = 0; i < count; i++)
        mean += runs->all[i].places[place] / (double)count;
    for (size_t i = 0; i < count; i++) {
        double distance = runs->all[i].places[place] - mean;
        double error = runs->all[i].errors[place];

        one.squares += distance * distance;
        one.error += error * error / (double)count;
    }
    return one;
}

/* How a place moved from one side to the other. */
struct shift {
    double distance;
    double errors[2]; /* variances that each side's calls leave */
    double variance;  /* between equal runs; 0: unknown */
};

struct comparison {
    struct shift shifts[JUDGE_PLACES];
    double medians[2];
    size_t runs[2];
    double together; /* the share of the variance that groups add */
    bool few;        /* calls in a run, and a measure that needs more */
    const struct prior *prior;
    double over, error;
};

static bool has_few(const struct measured_runs *runs)
{
    for (size_t i = 0; i < runs->count; i++)
        if (runs->all[i].few)
            return true;
    return false;
}

/* A group may be as far from others as its repetitions are from each other. */
static double together(const struct measured_runs *runs)
{
    return runs->count > runs->groups ? 1 / (double)runs->groups : 0;
}

static struct comparison compare(struct measured_runs *before,
                                 struct measured_runs *after,
                                 const struct judge_rules *rules)
{
    struct comparison all = {
        .runs = {before->count, after->count},
        .together = together(before) + together(after),
        .few =
            rules->by != MEASURE_MEMORY && (has_few(before) || has_few(after)),
        .prior = &priors[rules->by],
        .over = log1p(rules->over),
        .error = error_of_all /
                 (double)(rules->comparisons ? rules->comparisons : 1)};
    double freedom = (double)(before->count + after->count) - 2;

    for (int i = 0; i < JUDGE_PLACES; i++) {
        struct estimate old = estimate(before, i), new = estimate(after, i);

        if (i == JUDGE_MEDIAN) {
            all.medians[0] = old.place;
            all.medians[1] = new.place;
        }
        all.shifts[i] = (struct shift){
            new.place - old.place,
            {old.error, new.error},
            freedom > 0 ? (old.squares + new.squares) / freedom : 0};
    }
    return all;
}

/* How far a place may move by chance. */
struct limits {
    double known;    /* by what the runs themselves show */
    double expected; /* with what is known of equal runs */
};

/* One time, or two, are not averaged: how far they are off is not normal. */
static unsigned freedom_of(const struct comparison *all, double freedom,
                           unsigned more)
{
    size_t least = all->runs[0] < all->runs[1] ? all->runs[0] : all->runs[1];
    bool averaged = !all->few || least + more > 2;

    return averaged || freedom < FREEDOM_SINGLE ? (unsigned)freedom
                                                : FREEDOM_SINGLE;
}

/* Returns the limits if each side had so many `more` runs of this kind. */
static struct limits limits_of(const struct comparison *all, int place,
                               unsigned more)
{
    const struct shift *shift = &all->shifts[place];
    double old = (double)(all->runs[0] + more);
    double new = (double)(all->runs[1] + more);
    double prior = all->few ? all->prior->freedom_few : all->prior->freedom;
    double usual = all->prior->deviation * all->prior->deviation,
           share = 1 / old + 1 / new + all->together;
    double freedom = old + new - 2, variance = shift->variance, mixed, t;
    double calls = shift->errors[0] / old + shift->errors[1] / new;
    struct limits limits;

    if (more && all->runs[0] + all->runs[1] == 2)
        variance = usual;
    mixed = (prior * usual + freedom * variance) / (prior + freedom);
    t = runners_student_quantile(all->error,
                                 freedom_of(all, prior + freedom, more));
    limits.known = t * sqrt(calls + variance * share);
    limits.expected = t * sqrt(calls + mixed * share);
    return limits;
}

static bool has_grown(const struct comparison *all, int place, unsigned more)
{
    double distance = all->shifts[place].distance;

    return distance > all->over &&
           distance > limits_of(all, place, more).expected;
}

static size_t freedom_with(const struct comparison *all, unsigned more)
{
    return all->runs[0] + all->runs[1] + 2 * more - 2;
}

/* Too few to know the noise. */
static bool are_too_few(const struct comparison *all, unsigned more)
{
    return all->few && freedom_with(all, more) < FREEDOM_LEAST;
}

/* Other processes lengthen the median of a run's calls, but rarely the fast
 * ones. Many runs show by how much. */
static enum verdict verdict_of(const struct comparison *all, unsigned more)
{
    double distance = all->shifts[JUDGE_MEDIAN].distance;
    size_t freedom = freedom_with(all, more);

    if (are_too_few(all, more))
        return VERDICT_TOO_NOISY;
    if (distance + limits_of(all, JUDGE_MEDIAN, more).known <= all->over)
        return VERDICT_NOT_SLOWER;
    return has_grown(all, JUDGE_MEDIAN, more) &&
                   (freedom >= FREEDOM_MANY || has_grown(all, JUDGE_FAST, more))
               ? VERDICT_SLOWER
               : VERDICT_TOO_NOISY;
}

/* ---- Counts, which are exact ---- */

/* The least and the most that the runs of a side have counted. */
struct range {
    double least, most;
};

static struct range range_of(const struct measured_runs *runs, bool means)
{
    struct range range = {HUGE_VAL, -HUGE_VAL};

    for (size_t i = 0; i < runs->count; i++) {
        const struct measured_run *run = &runs->all[i];
        double count = means ? run->mean : run->places[JUDGE_MEDIAN];

        range.least = fmin(range.least, count);
        range.most = fmax(range.most, count);
    }
    return range;
}

static struct judgement judge_counts(const struct measured_runs *before,
                                     const struct measured_runs *after,
                                     const struct judge_rules *rules,
                                     bool means)
{
    struct range old = range_of(before, means), new = range_of(after, means);
    double over = log1p(rules->over);
    double middles[] = {(old.least + old.most) / 2, (new.least + new.most) / 2};
    double ratio = exp(middles[1] - middles[0]);

    return (struct judgement){
        .verdict = new.least - old.most > over    ? VERDICT_SLOWER
                   : new.most - old.least <= over ? VERDICT_NOT_SLOWER
                                                  : VERDICT_TOO_NOISY,
        .medians = {exp(middles[0]), exp(middles[1])},
        .ratio = ratio,
        .noise =
            ratio *expm1((old.most - old.least + new.most - new.least) / 2),
        .by_mean = means};
}

/* The one that says more: slower, then too noisy to tell. */
static struct judgement judge_all_counts(const struct measured_runs *before,
                                         const struct measured_runs *after,
                                         const struct judge_rules *rules)
{
    struct judgement median = judge_counts(before, after, rules, false);
    struct judgement mean = judge_counts(before, after, rules, true);

    return mean.verdict > median.verdict ? mean : median;
}

struct judgement runners_judge(struct measured_runs *before,
                               struct measured_runs *after,
                               const struct judge_rules *rules)
{
    if (rules->by == MEASURE_INSTRUCTIONS)
        return judge_all_counts(before, after, rules);

    struct comparison all = compare(before, after, rules);
    struct judgement judgement = {
        .verdict = verdict_of(&all, 0),
        .medians = {exp(all.medians[0]), exp(all.medians[1])},
        .ratio = exp(all.shifts[JUDGE_MEDIAN].distance)};

    if (!are_too_few(&all, 0))
        judgement.noise =
            judgement.ratio * expm1(limits_of(&all, JUDGE_MEDIAN, 0).expected);
    while (judgement.verdict == VERDICT_TOO_NOISY &&
           judgement.more_runs < JUDGE_MORE_MOST)
        if (verdict_of(&all, ++judgement.more_runs) != VERDICT_TOO_NOISY)
            break;
    return judgement;
}

bool runners_may_be_slower(const struct judgement *judgement, double over)
{
    return judgement->verdict == VERDICT_TOO_NOISY &&
           judgement->ratio > 1 + over;
}
