#pragma once
// The processor's own CRC-32C instruction, which Swift cannot name.
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__x86_64__)

static inline int intrinsics_has_crc32c(void) {
    __builtin_cpu_init();
    return __builtin_cpu_supports("sse4.2");
}

__attribute__((target("sse4.2")))
static inline uint32_t intrinsics_crc32c(uint32_t crc, const void *octets, size_t count) {
    const unsigned char *next = (const unsigned char *)octets;
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

#else

static inline int intrinsics_has_crc32c(void) { return 0; }

static inline uint32_t intrinsics_crc32c(uint32_t crc, const void *octets, size_t count) {
    (void)octets;
    (void)count;
    return crc;
}

#endif
