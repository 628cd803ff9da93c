/* playback.h: what the files of the played back libcupti share. */
#ifndef TESTS_PLAYBACK_PLAYBACK_H
#define TESTS_PLAYBACK_PLAYBACK_H

#include <stdint.h>

#define API __attribute__((visibility("default")))

#define CALL(name, ...)                                                        \
    API int name(__VA_ARGS__);                                                 \
    int name(__VA_ARGS__)

/* playback_setting returns the value of PLAYBACK_name, NULL if it is empty or
 * not set; playback_number its number. */
const char *playback_setting(const char *name);
long playback_number(const char *name, long otherwise);

/* playback_clock returns the time that the client's clock has. */
uint64_t playback_clock(void);

#endif
