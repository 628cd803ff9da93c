/* gunzip.h: reads recordings that older versions have compressed with zlib,
 * which is opened at run time. Private. */
#ifndef TESTLOG_GUNZIP_H
#define TESTLOG_GUNZIP_H

/* runners_gunzip_open reads a compressed file; `fd` stays the caller's. NULL
 * without memory or zlib. runners_gunzip returns how many bytes it has read, 0
 * at the end, or -1 if the file is damaged or truncated. */
struct gunzip;
struct gunzip *runners_gunzip_open(int fd);
int runners_gunzip(struct gunzip *, void *bytes, unsigned size);
void runners_gunzip_close(struct gunzip *);

#endif
