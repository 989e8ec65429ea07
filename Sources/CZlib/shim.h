#pragma once
#include <zlib.h>

// The initialisers are macros that pass the version and the size of the structure; Swift sees only
// functions.
static inline int zlib_deflate_init(z_streamp stream, int level, int window_bits, int memory_level) {
    return deflateInit2(stream, level, Z_DEFLATED, window_bits, memory_level, Z_DEFAULT_STRATEGY);
}

static inline int zlib_inflate_init(z_streamp stream, int window_bits) {
    return inflateInit2(stream, window_bits);
}
