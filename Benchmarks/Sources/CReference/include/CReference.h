#ifndef C_REFERENCE_H
#define C_REFERENCE_H

#include "CRadioReference.h"

#include <stddef.h>
#include <stdint.h>

/// An advert of a corpus: the position of its bytes, and the receiver's data about it.
typedef struct reference_advert {
    uint32_t offset;
    uint8_t count;
    int8_t rssi;
    uint16_t receiver;
    uint64_t address;
} reference_advert;

/// An iBeacon frame from an advert.
typedef struct reference_frame {
    uint64_t uuid_high;
    uint64_t uuid_low;
    uint16_t major;
    uint16_t minor;
    int8_t measured_power;
} reference_frame;

typedef struct reference_table reference_table;

/// Creates a table for `capacity` beacons. At least half of its slots stay free. Returns NULL if memory runs out.
reference_table *reference_create(size_t capacity);

void reference_destroy(reference_table *table);

/// Returns the number of beacons in the table.
size_t reference_count(const reference_table *table);

/// Processes adverts: AD walk, look-up by identity, exponential mean of the signal, time last heard.
///
/// `start` is the time of the first advert in nanoseconds and `step` the time between two adverts. Returns the number
/// of iBeacons.
size_t reference_receive(
    reference_table *table, const uint8_t *bytes, const reference_advert *adverts, size_t count, int64_t start,
    int64_t step);

/// Decodes adverts and returns a sum over all fields of the frames, so that the compiler cannot remove any field.
uint64_t reference_decode(const uint8_t *bytes, const reference_advert *adverts, size_t count);

#endif
