import Bytes
import COpenSSL
import Glibc

// C boundary: system calls get local values that live through the call, and what OpenSSL makes is owned by an
// `OpenSSLObject` or freed in the same function.

/// A PEM file with certificates or a private key, read as a whole.
struct PEMFile {
    private let name: String
    private let bytes: [UInt8]
    /// Whether users other than the owner and the group can read it.
    let isReadableByOthers: Bool

    /// The maximum size in bytes; larger files are not certificates.
    private static let limit = 1 << 20

    /// Reads the file.
    init(_ name: String) throws(TLSConfigurationError) {
        self.name = name
        let descriptor = unsafe open(name, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.unreadable(name) }
        defer { close(descriptor) }
        var status = stat()
        guard unsafe fstat(descriptor, &status) == 0 else { throw Self.unreadable(name) }
        isReadableByOthers = status.st_mode & S_IROTH != 0
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while true {
            let count = unsafe read(descriptor, &piece, piece.count)
            guard count >= 0 else { throw Self.unreadable(name) }
            if count == 0 { break }
            bytes += piece[..<count]
            guard bytes.count <= Self.limit else {
                throw TLSConfigurationError("\(name) is no PEM file")
            }
        }
        self.bytes = bytes
    }

    private static func unreadable(_ name: String) -> TLSConfigurationError {
        TLSConfigurationError("\(name) cannot be read: \(unsafe String(cString: strerror(errno)))")
    }

    /// The certificates in the file, in order.
    func certificates() throws(TLSConfigurationError) -> [OpenSSLObject] {
        var found: [OpenSSLObject] = []
        unsafe withBIO { bio in
            // Without this callback OpenSSL would ask for a passphrase at the terminal.
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                unsafe found.append(OpenSSLObject(certificate, X509_free))
            }
        }
        guard !found.isEmpty else {
            throw TLSConfigurationError("\(name) contains no certificate in PEM form")
        }
        return found
    }

    /// The private key in the file.
    func privateKey() throws(TLSConfigurationError) -> OpenSSLObject {
        var found: OpenSSLObject?
        unsafe withBIO { bio in
            if let key = unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) {
                found = unsafe OpenSSLObject(key, EVP_PKEY_free)
            }
        }
        if let found { return found }
        if String(decoding: bytes, as: UTF8.self).contains("ENCRYPTED") {
            throw TLSConfigurationError(
                "\(name) is protected by a passphrase, which a server cannot enter")
        }
        throw TLSConfigurationError("\(name) contains no private key in PEM form")
    }

    /// The SHA-256 digest of the file.
    var digest: [UInt8] { Bytes.SHA256.digest(of: bytes) }

    private func withBIO(_ body: (OpaquePointer) -> Void) {
        unsafe bytes.withUnsafeBytes { bytes in
            // Safe: the BIO reads from the array, which lives until `body` returns.
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
                return
            }
            unsafe body(bio)
            _ = unsafe BIO_free(bio)
        }
        // OpenSSL reports the end of the file as an error.
        ERR_clear_error()
    }
}

/// An object of OpenSSL that is freed with its last reference.
@safe final class OpenSSLObject: @unchecked Sendable {
    // Sendable because the objects (certificates, keys, contexts) are only read after their creation, and
    // OpenSSL's reference counts are thread-safe.

    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// Takes ownership of an object.
    init(_ pointer: OpaquePointer, _ free: @escaping (OpaquePointer?) -> Void) {
        unsafe self.pointer = pointer
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}
