// The minimum work of an iBeacon receiver in plain C: walk the AD structures, look up the identity in a hash table with
// open addressing, and keep an exponential mean of the signal and the time last heard. It has no regions, timers,
// addresses or receivers: two devices of one identity are one beacon here, and nothing is ever forgotten. It is the
// baseline for the engine, not a rival.

#include "CReference.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef struct entry {
    uint64_t uuid_high;
    uint64_t uuid_low;
    int64_t last_heard;
    uint16_t major;
    uint16_t minor;
    /// In dBm. Zero marks a free entry, because no mean of signals between -127 and -1 dBm is zero.
    float mean;
} entry;

struct reference_table {
    entry *entries;
    size_t mask;
    size_t count;
};

static const float gain = 0.125f;

reference_table *reference_create(size_t capacity) {
    size_t places = 64;
    while (places < 2 * capacity) places *= 2;
    reference_table *table = malloc(sizeof *table);
    if (table == NULL) return NULL;
    table->entries = calloc(places, sizeof *table->entries);
    if (table->entries == NULL) {
        free(table);
        return NULL;
    }
    table->mask = places - 1;
    table->count = 0;
    return table;
}

void reference_destroy(reference_table *table) {
    if (table == NULL) return;
    free(table->entries);
    free(table);
}

size_t reference_count(const reference_table *table) { return table->count; }

static inline uint64_t big_endian_64(const uint8_t *bytes) {
    uint64_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap64(value);
}

static inline uint16_t big_endian_16(const uint8_t *bytes) {
    uint16_t value;
    memcpy(&value, bytes, sizeof value);
    return __builtin_bswap16(value);
}

static inline uint32_t native_32(const uint8_t *bytes) {
    uint32_t value;
    memcpy(&value, bytes, sizeof value);
    return value;
}

/// Finds the iBeacon frame in an advert. It accepts the same adverts as the decoder that it is compared with.
static inline bool find_frame(const uint8_t *advert, size_t count, reference_frame *frame) {
    size_t offset = 0;
    while (count - offset >= 2) {
        size_t length = advert[offset];
        if (length == 0 || length >= count - offset) return false;
        const uint8_t *payload = advert + offset + 2;
        // 26 = type, company, type and length of the frame, and its 21 bytes; 4C 00 02 15 as one number.
        if (advert[offset + 1] == 0xFF && length >= 26 && native_32(payload) == 0x1502004C) {
            frame->uuid_high = big_endian_64(payload + 4);
            frame->uuid_low = big_endian_64(payload + 12);
            frame->major = big_endian_16(payload + 20);
            frame->minor = big_endian_16(payload + 22);
            frame->measured_power = (int8_t)payload[24];
            return true;
        }
        offset += length + 1;
    }
    return false;
}

static inline size_t hash(const reference_frame *frame) {
    uint64_t value = frame->uuid_high ^ frame->uuid_low * 0x9E3779B97F4A7C15u;
    value ^= ((uint64_t)frame->major << 16 | frame->minor) * 0xBF58476D1CE4E5B9u;
    value ^= value >> 32;
    value *= 0x94D049BB133111EBu;
    return (size_t)(value ^ value >> 32);
}

static inline bool is_same(const entry *entry, const reference_frame *frame) {
    return entry->uuid_high == frame->uuid_high && entry->uuid_low == frame->uuid_low
        && entry->major == frame->major && entry->minor == frame->minor;
}

static inline void track(reference_table *table, const reference_frame *frame, int8_t rssi, int64_t time) {
    size_t place = hash(frame) & table->mask;
    while (true) {
        entry *entry = table->entries + place;
        if (entry->mean == 0) {
            // Half of the slots stay free, by the requested capacity.
            if (2 * table->count > table->mask) return;
            entry->uuid_high = frame->uuid_high;
            entry->uuid_low = frame->uuid_low;
            entry->major = frame->major;
            entry->minor = frame->minor;
            entry->mean = rssi;
            entry->last_heard = time;
            table->count += 1;
            return;
        }
        if (is_same(entry, frame)) {
            entry->mean += gain * ((float)rssi - entry->mean);
            entry->last_heard = time;
            return;
        }
        place = (place + 1) & table->mask;
    }
}

size_t reference_receive(
    reference_table *table, const uint8_t *bytes, const reference_advert *adverts, size_t count, int64_t start,
    int64_t step) {
    size_t found = 0;
    int64_t time = start;
    for (size_t index = 0; index < count; index += 1) {
        reference_frame frame;
        if (find_frame(bytes + adverts[index].offset, adverts[index].count, &frame)) {
            track(table, &frame, adverts[index].rssi, time);
            found += 1;
        }
        time += step;
    }
    return found;
}

uint64_t reference_decode(const uint8_t *bytes, const reference_advert *adverts, size_t count) {
    uint64_t sum = 0;
    for (size_t index = 0; index < count; index += 1) {
        reference_frame frame;
        if (find_frame(bytes + adverts[index].offset, adverts[index].count, &frame)) {
            sum += frame.uuid_high + frame.uuid_low + frame.major + frame.minor + (uint64_t)frame.measured_power;
        }
    }
    return sum;
}
