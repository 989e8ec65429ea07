internal import HTTP
internal import HTTPClient

/// What went wrong with one attempt, and what to do about it.
struct Fault: Error {
    let error: ObjectStoreError
    /// Whether another attempt may help (§10.3).
    var isPassing = false
    /// Whether nothing was said for as long as the store may take.
    var isSilence = false
    /// The store's clock, in milliseconds since 1970, where it says that ours is off.
    var storeTime: Int64?

    /// No answer, or one that broke off.
    init(_ error: HTTPClientError, in operation: String) {
        let (kind, isPassing): (ObjectStoreError.Kind, Bool) =
            switch error.kind {
            case .unresolved, .unreachable, .timedOut, .broken: (.unreachable, true)
            case .unavailable, .refusedAddress: (.unreachable, false)
            case .insecure: (.untrusted, false)
            case .invalidRequest: (.invalid, false)
            case .tooLarge: (.unexpected, false)
            case .unreadableBody: (.unreadableBody, false)
            case .cancelled: (.cancelled, false)
            }
        self.error = ObjectStoreError(kind, operation, words: error.description)
        self.isPassing = isPassing
        isSilence = error.kind == .timedOut
    }

    /// An answer that does what was asked, and makes no sense; the next one may.
    init(_ fault: XMLFault, status: Int, in operation: String) {
        error = ObjectStoreError(
            .unexpected, operation, status: status,
            words: "the answer cannot be read: \(fault)")
        isPassing = true
    }

    /// An answer that ended before so many bytes that should have come.
    init(endingBefore rest: Int64, in operation: String) {
        error = ObjectStoreError(
            .unreachable, operation, words: "the answer ended \(rest) octets too early")
        isPassing = true
    }

    /// An answer that lacks a field.
    init(lacking field: String, status: Int, in operation: String) {
        error = ObjectStoreError(
            .unexpected, operation, status: status, words: "the answer has no sound \(field)")
    }
}
