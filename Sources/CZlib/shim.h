#pragma once
#include <zlib.h>

// Swift cannot call deflateInit2 and inflateInit2, which are macros.
static inline int beacon_inflate_init(z_stream *stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}

static inline int beacon_deflate_init(z_stream *stream, int level, int window_bits) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, 8, Z_DEFAULT_STRATEGY);
}
