/// A request that carries bytes, in the engine's words (§4).
struct Append: Sendable {
    /// Where the first byte may lie.
    enum Rule: Sendable {
        /// At what is held, nowhere else: dialects B and C.
        case exact
        /// Anywhere up to what is held; bytes held already are passed over (§5.8).
        case overlap
    }

    /// What a clean end of the body means.
    enum End: Sendable {
        /// Never the end of the content, even where its length says so.
        case never
        /// Nothing by itself: the content ends where its length says.
        case atLength
        /// The end of the content, unless a declared length is not yet reached.
        case atCleanEnd
        /// The end of the content; a declared length must agree.
        case always
    }

    /// Somebody who is told on the way.
    struct Watch: Sendable {
        /// All checks have passed, and the body is about to be read.
        let began: @Sendable (UploadRecord) -> Void
        /// So many bytes are durable.
        let committed: @Sendable (Int64) -> Void
    }

    /// How the first byte is judged.
    var rule = Rule.overlap
    /// Index of the first body byte.
    var first: Int64
    /// Index of the last body byte, where the request states it.
    var last: Int64?
    /// Length of the whole content, where the request states or implies it.
    var total: Int64?
    /// What is wrong with the length the request states; it counts only after the offset (§6.5).
    var totalFault: UploadError?
    /// Bytes in the body; `nil` when chunked.
    var bodyLength: Int64?
    /// What a clean end of the body means.
    var end: End
    /// Digests of this body; any of them makes the request all or nothing (§4.4).
    var bodyDigests: [BodyDigest] = []
    /// Reads digests of this body from the trailers behind it; `nil` where nobody looks (§6.8).
    var trailer: (@Sendable ([String]) throws(UploadError) -> [BodyDigest])?
    /// Digests of the whole content.
    var declared = DeclaredDigests()
    /// Taken when none was declared at creation.
    var mediaType: String?
    /// The request belongs to dialect A, whose clients may ask for MD5.
    var wantsMD5 = false
    /// A byte beyond the length fails the upload (§4.2).
    var failsOnOverflow = false
    /// Who is told how it goes on.
    var watch: Watch?
    /// The client sends its body only when told to, or when it grows tired of waiting.
    var awaitsContinue = false

    /// Nobody sees its bytes before all of them are known to be right (§4.4).
    var isAtomic: Bool { !bodyDigests.isEmpty || trailer != nil }
}

/// What became of a request that carries bytes or asks how many are held.
enum AppendOutcome: Sendable, Equatable {
    /// So many bytes are durable, more are expected.
    case held(Int64)
    /// Nothing was taken: the first byte does not fit the so many that are held, by the request's
    /// rule (§5.7, §6.5, §7.8).
    case misplaced(Int64)
    /// Everything is there, and this request saw to it.
    case complete(StoredAnswer)
    /// Everything was there before; nothing of this request counts.
    case completeBefore(StoredAnswer)
    /// Nobody is there to answer: the client went away, or a newer request took over.
    case dropped
}
