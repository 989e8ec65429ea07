#pragma once
// The processor's own CRC-32C instruction, which Swift cannot name.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// The registers after three runs of bytes.
struct intrinsics_lanes {
    uint32_t first, second, third;
};

#if defined(__x86_64__)

static inline int intrinsics_has_crc32c(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2")))
static inline uint32_t intrinsics_crc32c(uint32_t crc, const void *bytes, size_t count) {
    const unsigned char *next = (const unsigned char *)bytes;
    uint64_t wide = crc;
    for (; count >= 8; count -= 8, next += 8) {
        uint64_t word;
        memcpy(&word, next, 8);
        wide = __builtin_ia32_crc32di(wide, word);
    }
    crc = (uint32_t)wide;
    for (; count > 0; count--) crc = __builtin_ia32_crc32qi(crc, *next++);
    return crc;
}

// Three runs of `lane` bytes each, a multiple of 8, in a row: the instruction takes three cycles and one
// can begin in each. The first continues from `crc`, the others begin at 0.
__attribute__((target("sse4.2")))
static inline struct intrinsics_lanes intrinsics_crc32c_lanes(uint32_t crc, const void *bytes, size_t lane) {
    const unsigned char *next = (const unsigned char *)bytes;
    uint64_t first = crc, second = 0, third = 0;
    for (size_t place = 0; place < lane; place += 8) {
        uint64_t a, b, c;
        memcpy(&a, next + place, 8);
        memcpy(&b, next + lane + place, 8);
        memcpy(&c, next + 2 * lane + place, 8);
        first = __builtin_ia32_crc32di(first, a);
        second = __builtin_ia32_crc32di(second, b);
        third = __builtin_ia32_crc32di(third, c);
    }
    return (struct intrinsics_lanes){(uint32_t)first, (uint32_t)second, (uint32_t)third};
}

#else

static inline int intrinsics_has_crc32c(void) { return 0; }

static inline uint32_t intrinsics_crc32c(uint32_t crc, const void *bytes, size_t count) {
    (void)bytes;
    (void)count;
    return crc;
}

static inline struct intrinsics_lanes intrinsics_crc32c_lanes(uint32_t crc, const void *bytes, size_t lane) {
    (void)bytes;
    (void)lane;
    return (struct intrinsics_lanes){crc, 0, 0};
}

#endif
