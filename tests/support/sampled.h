/* sampled.h: what tests ask of the samples of a run. */
#ifndef TESTS_SAMPLED_H
#define TESTS_SAMPLED_H

/* e2e_sampled returns the time of the latest run's samples, in ms, whose stacks
 * match a pattern of awk; "": of all tests. */
double e2e_sampled(const char *test, const char *pattern);

/* e2e_expect_share expects that the first stacks have so many percent of the
 * time of both, which is at least 100 ms. Timers look at it each 4 ms, and the
 * machine may be busy. */
void e2e_expect_share(const char *test, const char *some, const char *rest,
                      double percent);

#endif
