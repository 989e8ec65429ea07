/// OpenSSL's low-level digest contexts: C structures of a published layout, which EVP would hide.
///
/// Sound for these only: numbers in fixed arrays, without pointers, every bit pattern a value. What a
/// C function is handed outlives the call, and a context takes bytes without keeping their address.
enum PlainMemory {
    @unsafe static func bytes<Context: BitwiseCopyable>(of context: Context) -> [UInt8] {
        unsafe withUnsafeBytes(of: context) { bytes in unsafe Array(bytes) }
    }

    @unsafe static func value<Context: BitwiseCopyable>(
        _ bytes: [UInt8], as type: Context.Type
    ) -> Context? {
        guard bytes.count == MemoryLayout<Context>.size else { return nil }
        return unsafe bytes.withUnsafeBytes { unsafe $0.loadUnaligned(as: type) }
    }

    /// Has a context take the next bytes.
    @unsafe static func update<Context>(
        _ context: inout Context, _ bytes: Span<UInt8>,
        by take: (UnsafeMutablePointer<Context>?, UnsafeRawPointer?, Int) -> Int32
    ) {
        unsafe bytes.withUnsafeBytes { bytes in
            _ = unsafe take(&context, bytes.baseAddress, bytes.count)
        }
    }

    /// The digest of so many bytes that a context ends in; ending spoils it, so a copy does.
    @unsafe static func digest<Context>(
        _ context: Context, _ size: Int,
        by end: (UnsafeMutablePointer<UInt8>?, UnsafeMutablePointer<Context>?) -> Int32
    ) -> [UInt8] {
        var copy = context
        var digest = [UInt8](repeating: 0, count: size)
        _ = unsafe end(&digest, &copy)
        return digest
    }
}
