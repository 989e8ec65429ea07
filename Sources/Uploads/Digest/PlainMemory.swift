/// C structures without pointers, as bytes and back.
///
/// Sound for OpenSSL's digest contexts only: numbers in fixed arrays, every bit pattern a value.
enum PlainMemory {
    @unsafe static func bytes<Structure: BitwiseCopyable>(of structure: Structure) -> [UInt8] {
        unsafe withUnsafeBytes(of: structure) { bytes in unsafe Array(bytes) }
    }

    @unsafe static func value<Structure: BitwiseCopyable>(
        _ bytes: [UInt8], as type: Structure.Type
    ) -> Structure? {
        guard bytes.count == MemoryLayout<Structure>.size else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
    }
}
