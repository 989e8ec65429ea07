import COpenSSL

/// The hash of a password by scrypt (RFC 7914), with N = 2¹⁵, r = 8 and p = 1.
///
/// Computing one takes 32 MiB of memory and about a tenth of a second of one core, so it never runs on an event loop.
public struct PasswordHash: Equatable, Sendable {
    /// The form in which it is stored: a byte for the parameters, the salt and the key.
    public let bytes: [UInt8]

    /// There is not enough memory to compute a hash.
    public struct OutOfMemory: Error {}

    /// The number of bytes of a salt.
    public static let saltSize = 16
    private static let keySize = 32
    private static let parameters: UInt8 = 1

    /// Hashes a password.
    ///
    /// - Parameter salt: ``saltSize`` random bytes.
    public init(of password: String, salt: [UInt8]) throws(OutOfMemory) {
        bytes = [Self.parameters] + salt + (try Self.key(of: password, salt))
    }

    /// Reads a stored hash; `nil` for bytes of another form.
    public init?(stored bytes: [UInt8]) {
        guard bytes.count == 1 + Self.saltSize + Self.keySize, bytes[0] == Self.parameters else {
            return nil
        }
        self.bytes = bytes
    }

    /// Whether it is the hash of a password. The comparison takes the same time for each wrong password.
    public func matches(_ password: String) throws(OutOfMemory) -> Bool {
        let key = try Self.key(of: password, Array(bytes.dropFirst().prefix(Self.saltSize)))
        return Signature.matches(key, Array(bytes.suffix(Self.keySize)))
    }

    private static func key(of password: String, _ salt: [UInt8]) throws(OutOfMemory) -> [UInt8] {
        let password = password.utf8.map { byte in CChar(bitPattern: byte) }
        var key = [UInt8](repeating: 0, count: keySize)
        // The arrays live through the call, which writes exactly the bytes of `key`.
        let done = unsafe EVP_PBE_scrypt(
            password, password.count, salt, salt.count, 1 << 15, 8, 1, 64 << 20, &key, keySize)
        guard done == 1 else {
            ERR_clear_error()
            throw OutOfMemory()
        }
        return key
    }
}
