#ifndef C_RADIO_REFERENCE_H
#define C_RADIO_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/// Two sockets that carry packets, the first of which tells when the kernel received each. 0, or -1 with errno set.
int radio_reference_pair(int ends[2]);

/// Lets a thread of its own be the adapter at `end`: it answers commands and, once a scan is on, sends `count` adverts, one
/// each `period` nanoseconds, or as fast as they are taken where that is 0. It ends when all are sent, and closes nothing.
/// 0, or an error number.
int radio_reference_start(int end, size_t count, int64_t period);

/// When the advert of this number was about to be sent, by the clock on the wall in nanoseconds, where there is a period. It
/// is remembered for the newest 8 192.
int64_t radio_reference_sent(size_t number);

/// Waits until the adapter that was started last has ended.
void radio_reference_join(void);

/// Does the least that a receiver can do: begins the scan and reads so many adverts, in batches, with their times.
///
/// Where `delays` is not NULL, it gets how many nanoseconds after the kernel each advert was received.
/// Gives how many bytes of adverts there were, so that no work can be left out as unused.
uint64_t radio_reference_read(int socket, size_t count, int64_t *delays);

/// How many nanoseconds of processor time this thread has used.
int64_t radio_reference_time(void);

#endif
