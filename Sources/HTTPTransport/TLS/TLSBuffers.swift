import COpenSSL
import Glibc

/// The ciphertext at hand of whichever session of a loop is at work; an idle session owns none.
@safe final class TLSBuffers {
    // Belongs to one loop. The structure is reached by OpenSSL through a BIO while a session calls it,
    // and lives longer than those sessions: each holds this object.
    let pointer: UnsafeMutablePointer<tls_wire>
    /// Where ciphertext is received.
    let room: UnsafeMutableBufferPointer<UInt8>

    /// Made once and never changed.
    nonisolated(unsafe) static let method: OpaquePointer? = unsafe tls_wire_method()

    init() {
        unsafe pointer = .allocate(capacity: 1)
        unsafe pointer.initialize(to: tls_wire())
        // A little more than four full records, so that plaintext comes in whole ones.
        unsafe room = .allocate(capacity: 66 << 10)
        unsafe room.initialize(repeating: 0)
    }

    deinit {
        unsafe free(pointer.pointee.output)
        unsafe pointer.deallocate()
        unsafe room.deallocate()
    }

    /// Ciphertext for the session to read; valid until its next call has returned.
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

    /// Ciphertext to be sent; valid until the next call of a session.
    var output: UnsafeRawBufferPointer {
        unsafe UnsafeRawBufferPointer(
            start: pointer.pointee.output, count: pointer.pointee.output_count)
    }

    /// How many bytes of input the session has not used.
    var inputCount: Int { unsafe pointer.pointee.input_count }

    /// Whether a session has written something.
    var hasOutput: Bool { unsafe pointer.pointee.output_count > 0 }

    /// Forgets the output, which has been sent or kept.
    func clearOutput() {
        unsafe pointer.pointee.output_count = 0
        // What a flood of alerts or a large handshake has needed is not kept for ever.
        guard unsafe pointer.pointee.output_capacity > 512 << 10 else { return }
        unsafe free(pointer.pointee.output)
        unsafe pointer.pointee.output = nil
        unsafe pointer.pointee.output_capacity = 0
    }
}
