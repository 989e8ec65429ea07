import COpenSSL
import Glibc

/// The ciphertext buffers of an event loop, shared by its TLS sessions; an idle session has none.
@safe final class TLSBuffers {
    // Belongs to one loop. OpenSSL accesses the structure through a BIO during the calls of a session. It
    // outlives the sessions, because each holds a reference to this object.
    let pointer: UnsafeMutablePointer<tls_wire>
    /// The buffer into which ciphertext is received.
    let receiveBuffer: UnsafeMutableBufferPointer<UInt8>

    /// The BIO method; created once and never changed.
    nonisolated(unsafe) static let method: OpaquePointer? = unsafe tls_wire_method()

    init() {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: tls_wire())
        // A little more than four full records, so that whole records are decrypted at once.
        unsafe receiveBuffer = .allocate(capacity: 66 << 10)
        unsafe receiveBuffer.initialize(repeating: 0)
    }

    deinit {
        unsafe free(pointer.pointee.output)
        unsafe pointer.deallocate()
        unsafe receiveBuffer.deallocate()
    }

    /// The ciphertext for the session to read; valid until its next call has returned.
    var input: UnsafeBufferPointer<UInt8> {
        get {
            unsafe UnsafeBufferPointer(
                start: pointer.pointee.input, count: pointer.pointee.input_count)
        }
        set {
            unsafe pointer.pointee.input = newValue.baseAddress
            unsafe pointer.pointee.input_count = newValue.count
        }
    }

    /// The ciphertext to be sent; valid until the next call of a session.
    var output: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: pointer.pointee.output, count: pointer.pointee.output_count)
    }

    /// The number of input bytes that the session has not used.
    var inputCount: Int { unsafe pointer.pointee.input_count }

    /// Whether a session has written output.
    var hasOutput: Bool { unsafe pointer.pointee.output_count > 0 }

    /// Removes the output, which was sent or copied.
    func clearOutput() {
        unsafe pointer.pointee.output_count = 0
        // A buffer that became very large, for example in a large handshake, is freed.
        guard unsafe pointer.pointee.output_capacity > 512 << 10 else { return }
        unsafe free(pointer.pointee.output)
        unsafe pointer.pointee.output = nil
        unsafe pointer.pointee.output_capacity = 0
    }
}
