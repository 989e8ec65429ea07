/// Why the store did not do what was asked, in words an operator can act on.
public struct ObjectStoreError: Error, Sendable, Equatable, CustomStringConvertible {
    /// What to do about it depends on this alone.
    public enum Kind: String, Sendable, CaseIterable {
        /// Settings or arguments that cannot be meant; nothing was sent.
        case invalid
        /// There is no such bucket.
        case missingBucket
        /// The bucket is in another region, or at another endpoint.
        case wrongRegion
        /// The store does not know the access key, its secret differs, or the session is over.
        case invalidCredentials
        /// The access key may not do this.
        case accessDenied
        /// The clocks differ by more than the store allows, and its `Date` did not help.
        case clockSkew
        /// There is no such object: the store said so itself (`NoSuchKey`).
        case missingObject
        /// There is no such multipart upload: never proof that it was completed (§10.3).
        case missingUpload
        /// A part but the last is under 5 MiB.
        case partTooSmall
        /// A part is missing, or is another than was listed.
        case invalidParts
        /// More than the store takes.
        case tooLarge
        /// The object is shorter than where the range begins.
        case unsatisfiableRange
        /// What arrived was not what was sent: the store's hash of the body differs.
        case damaged
        /// The object is no longer the one that was expected (`If-Match`, `If-None-Match`).
        case preconditionFailed
        /// The file of a body could not be read.
        case unreadableBody
        /// The store's certificate is not believed.
        case untrusted
        /// No connection, or one that broke, after all attempts.
        case unreachable
        /// The store is overloaded or has a fault, after all attempts.
        case busy
        /// An answer that is none of a store.
        case unexpected
        /// Our own task was cancelled.
        case cancelled
    }

    /// What to do about it depends on this alone.
    public let kind: Kind
    /// The operation, as §10.3 calls it.
    public let operation: String
    /// The status of the answer, if there was one.
    public let status: Int?
    /// The store's own word, such as `NoSuchKey`, if it gave one.
    public let code: String?
    /// A sentence; what the store wrote is cut to 300 characters and has no control characters.
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

    /// Whether the same request may succeed later, with nobody doing anything.
    public var isTransient: Bool { kind == .unreachable || kind == .busy }

    /// `complete: NoSuchBucket (404): the bucket does not exist`.
    public var description: String {
        let answer = code ?? (status == nil ? nil : "answer")
        let number = status.map { " (\($0))" } ?? ""
        return [operation, answer.map { $0 + number }, words].compactMap(\.self)
            .joined(separator: ": ")
    }
}
