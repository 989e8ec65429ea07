import Bytes
import COpenSSL
import Glibc

/// A file of certificates or a key, read whole.
struct PEMFile {
    let name: String
    private let bytes: [UInt8]
    /// Whether others than its owner and group may read it.
    let isReadableByOthers: Bool

    /// Larger files hold something else.
    private static let limit = 1 << 20

    /// Reads it.
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

    /// The certificates in it, in order; the caller owns them.
    func certificates() throws(TLSConfigurationError) -> [OpenSSLObject] {
        var found: [OpenSSLObject] = []
        unsafe withBIO { bio in
            // Without an answer about the passphrase OpenSSL asks at the terminal.
            while let certificate = unsafe PEM_read_bio_X509(bio, nil, { _, _, _, _ in -1 }, nil) {
                unsafe found.append(OpenSSLObject(certificate, X509_free))
            }
        }
        guard !found.isEmpty else {
            throw TLSConfigurationError("\(name) holds no certificate in PEM form")
        }
        return found
    }

    /// The private key in it; the caller owns it.
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
                "\(name) is protected by a passphrase, and nobody is there to enter it")
        }
        throw TLSConfigurationError("\(name) holds no private key in PEM form")
    }

    /// SHA-256 of the file.
    var digest: [UInt8] { Bytes.SHA256.digest(of: bytes) }

    private func withBIO(_ body: (OpaquePointer) -> Void) {
        unsafe bytes.withUnsafeBytes { bytes in
            // Reads from the array, which stays where it is until `body` returns.
            guard let bio = unsafe BIO_new_mem_buf(bytes.baseAddress, Int32(bytes.count)) else {
                return
            }
            unsafe body(bio)
            _ = unsafe BIO_free(bio)
        }
        // The end of the file is an error to OpenSSL.
        ERR_clear_error()
    }
}

/// An object of OpenSSL that is freed with its last reference.
@safe final class OpenSSLObject: @unchecked Sendable {
    // Sendable because what it holds (certificates, keys, contexts) is only read once it is made, and
    // OpenSSL counts references under locks of its own.

    let pointer: OpaquePointer
    private let free: (OpaquePointer?) -> Void

    /// Takes it over.
    init(_ pointer: OpaquePointer, _ free: @escaping (OpaquePointer?) -> Void) {
        unsafe self.pointer = pointer
        unsafe self.free = free
    }

    deinit { unsafe free(pointer) }
}
