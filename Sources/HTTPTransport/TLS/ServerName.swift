import HTTP

/// The `server_name` extension of a hello (RFC 6066 §3).
enum ServerName {
    /// The host name in it, in lower case; `nil` when it is not well-formed or holds none.
    static func read(_ octets: UnsafeBufferPointer<UInt8>) -> String? {
        // A list with its length, an entry with its kind, a name with its length.
        guard octets.count > 5, unsafe number(octets, at: 0) == octets.count - 2,
            unsafe octets[2] == 0
        else { return nil }
        let count = unsafe number(octets, at: 3)
        guard count > 0, count <= 255, octets.count == 5 + count else { return nil }
        let name = unsafe octets[5...]
        // Names outside ASCII travel as A-labels.
        guard unsafe name.allSatisfy({ octet in octet > 0x20 && octet < 0x7F }) else { return nil }
        return unsafe CertificateNames.folded(String(decoding: name, as: UTF8.self))
    }

    private static func number(_ octets: UnsafeBufferPointer<UInt8>, at index: Int) -> Int {
        unsafe Int(octets[index]) << 8 | Int(octets[index + 1])
    }
}
