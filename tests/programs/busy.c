/* busy.c THREADS SECONDS RATE: records RATE spans a second, and a line for each
 * 1,000 of them, which says when it was recorded: ns of CLOCK_MONOTONIC.
 * busy.c late: reads such lines and prints how late they come: thread, number,
 * ns.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <testlog/log.h>

enum { THREADS_MOST = 64, SPANS = 1000 };

static double seconds, rate; /* of each thread */

static uint64_t now(void)
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000 + (uint64_t)time.tv_nsec;
}

static void sleep_until(uint64_t when)
{
    const struct timespec time = {(time_t)(when / 1000000000),
                                  (long)(when % 1000000000)};

    clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &time, NULL);
}

static void *work(void *number)
{
    uint64_t begin = now(), lines = (uint64_t)(seconds * rate / SPANS);

    for (uint64_t i = 1; i <= lines; i++) {
        for (int n = 0; n < SPANS; n++) {
            trace_span(DEBUG, "work");
        }
        log_info("line %d %llu %llu", *(int *)number, (unsigned long long)i,
                 (unsigned long long)now());
        sleep_until(begin + (uint64_t)((double)i * SPANS / rate * 1e9));
    }
    return NULL;
}

static int print_how_late(void)
{
    unsigned long long number, time;
    char *line = NULL;
    size_t room = 0;
    int thread;

    while (getline(&line, &room, stdin) > 0) {
        const char *text = strstr(line, "line ");

        if (text &&
            sscanf(text, "line %d %llu %llu", &thread, &number, &time) == 3)
            printf("%d %llu %llu\n", thread, number,
                   (unsigned long long)now() - time);
    }
    free(line);
    return 0;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS_MOST];
    int numbers[THREADS_MOST], count = argc == 4 ? atoi(argv[1]) : 0;

    if (argc == 2 && !strcmp(argv[1], "late"))
        return print_how_late();
    if (count < 1 || count > THREADS_MOST)
        return 2;
    seconds = atof(argv[2]);
    rate = atof(argv[3]) / count;
    for (int i = 0; i < count; i++) {
        numbers[i] = i;
        if (pthread_create(&threads[i], NULL, work, &numbers[i]))
            return 1;
    }
    for (int i = 0; i < count; i++)
        pthread_join(threads[i], NULL);
    return 0;
}
