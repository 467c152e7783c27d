#ifndef C_RADIO_REFERENCE_H
#define C_RADIO_REFERENCE_H

#include <stddef.h>
#include <stdint.h>

/// Creates two sockets that carry packets. The first one reports the kernel's time of each packet. Returns 0, or -1
/// with errno set.
int radio_reference_pair(int ends[2]);

/// Starts a thread that plays the adapter at `end`. It answers commands and, once a scan is on, sends `count` adverts,
/// one each `period` nanoseconds, or at maximum speed if that is 0. It ends after the last advert, and closes nothing.
/// Returns 0, or an error number.
int radio_reference_start(int end, size_t count, int64_t period);

/// Returns the wall-clock time in nanoseconds at which the advert with this number was about to be sent, if there is a
/// period. The times of the newest 8 192 adverts are stored.
int64_t radio_reference_sent(size_t number);

/// Waits until the adapter that was started last has ended.
void radio_reference_join(void);

/// Does the minimum work of a receiver: begins the scan and reads `count` adverts, in batches, with their times.
///
/// If `delays` is not NULL, it gets the nanoseconds from the kernel's reception to this reader for each advert. Returns
/// the number of bytes of the adverts, so that the compiler cannot remove any work as unused.
uint64_t radio_reference_read(int socket, size_t count, int64_t *delays);

/// Returns the processor time of this thread in nanoseconds.
int64_t radio_reference_time(void);

#endif
