/// An object of OpenSSL that is freed with its last reference.
@safe final class Owned: @unchecked Sendable {
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
