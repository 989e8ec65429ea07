/// The error of an operation on an object store, with a text that helps an operator.
public struct ObjectStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// The cause, which decides how to handle the error.
    public enum Kind: String, Sendable, CaseIterable {
        /// Invalid settings or arguments; nothing was sent.
        case invalid
        /// The bucket does not exist.
        case missingBucket
        /// The bucket is in another region, or at another endpoint.
        case wrongRegion
        /// Unknown access key, wrong secret, or expired session.
        case invalidCredentials
        /// The access key lacks the permission.
        case accessDenied
        /// The clocks differ by more than the store allows, and correcting by its `Date` did not
        /// help.
        case clockSkew
        /// The object does not exist, as the store itself reports (`NoSuchKey`).
        case missingObject
        /// The multipart upload does not exist; this does not prove that it was completed (§10.3).
        case missingUpload
        /// A part other than the last is below 5 MiB.
        case partTooSmall
        /// A part is missing, or differs from the list.
        case invalidParts
        /// Larger than the store accepts.
        case tooLarge
        /// The range starts beyond the end of the object.
        case unsatisfiableRange
        /// The store received other bytes than were sent: its hash of the body differs.
        case damaged
        /// The condition failed: `If-Match` or `If-None-Match`.
        case preconditionFailed
        /// The file of a body could not be read.
        case unreadableBody
        /// The store's certificate is not trusted.
        case untrusted
        /// No connection, or a broken one, after all attempts.
        case unreachable
        /// The store is overloaded or failing, after all attempts.
        case busy
        /// The response does not come from an object store.
        case unexpected
        /// The calling task was cancelled.
        case cancelled
    }

    /// The cause, which decides how to handle the error.
    public let kind: Kind
    /// The operation's name in §10.3.
    public let operation: String
    /// The status of the response, if there was one.
    public let status: Int?
    /// The store's error code, such as `NoSuchKey`, if it sent one.
    public let code: String?
    /// A sentence; text from the store is cut to 300 characters and has no control characters.
    public let words: String

    init(
        _ kind: Kind, _ operation: String, status: Int? = nil, code: String? = nil, words: String
    ) {
        self.kind = kind
        self.operation = operation
        self.status = status
        self.code = code
        self.words = words
    }

    /// Whether the same request may succeed later without any change.
    public var isTransient: Bool { kind == .unreachable || kind == .busy }

    /// `the bucket does not exist (NoSuchBucket, 404)`: without the operation, for people.
    public var explanation: String {
        let answer = [code, status.map { status in String(status) }].compactMap(\.self)
        return answer.isEmpty ? words : "\(words) (\(answer.joined(separator: ", ")))"
    }

    /// `complete: NoSuchBucket (404): the bucket does not exist`.
    public var description: String {
        let answer = code ?? (status == nil ? nil : "answer")
        let number = status.map { " (\($0))" } ?? ""
        return [operation, answer.map { $0 + number }, words].compactMap(\.self)
            .joined(separator: ": ")
    }
}
