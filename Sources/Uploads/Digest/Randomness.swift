import COpenSSL

/// Bytes nobody can guess, from the operating system by way of OpenSSL.
enum Randomness {
    /// - Throws: ``UploadError/backend`` when the system has none; nothing is made from less.
    static func bytes(_ count: Int) throws(UploadError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        let result = unsafe bytes.withUnsafeMutableBufferPointer { target in
            unsafe RAND_bytes(target.baseAddress, Int32(target.count))
        }
        guard result == 1 else { throw .backend }
        return bytes
    }
}
