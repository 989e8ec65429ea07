/// Why an upload request is not granted; each case once, with its status in one table (§3.9, §12).
public enum UploadError: Error, Equatable, Sendable {
    /// The request contradicts the rules; the text says which, without anything the client sent.
    case invalid(String)
    /// The method is not accepted here; with the value of `Allow` and a text that says what is.
    case methodNotAllowed(allow: String, text: String)
    /// No such upload: malformed, unknown and forgotten look alike (§1.1).
    case notFound
    /// It has ended without a content, or its content was removed.
    case gone
    /// A length stated now contradicts what is known or held.
    case lengthMismatch(String)
    /// More bytes than the length of the content.
    case beyondLength
    /// More bytes came than the length of the content; the upload has failed.
    case overflow
    /// Longer than any upload may be; the limit in force, in bytes (ruling 35).
    case tooLarge(limit: Int64)
    /// The bytes of this body are not those the client meant to send; they are undone.
    case checksumMismatch
    /// The content is not the one the client declared; the upload has failed.
    case contentMismatch
    /// A digest by an algorithm that is not among those offered.
    case unsupportedChecksum
    /// The first byte does not fit what is held, for clients that read no range (§5.7).
    case offsetMismatch
    /// Whoever wants to create brings no valid credential.
    case unauthenticated
    /// His credential does not allow it.
    case forbidden
    /// The content is used by a message.
    case inUse
    /// The content may not exist any more.
    case refused
    /// Someone else is writing and did not let go in time.
    case locked
    /// Another process goes on with it.
    case superseded
    /// Finalizing takes longer than a request waits.
    case stillFinalizing
    /// The owner has too many open uploads, or asks too often.
    case rateLimited
    /// No room on the disk.
    case insufficientStorage
    /// The application may not hold so many bytes; with how many it may.
    case quotaExceeded(Int64)
    /// A fault of ours.
    case backend
    /// Where the records are kept cannot be asked now; nothing is lost.
    case unavailable
    /// No descriptor is left to open the files with; nothing is lost.
    case busy
    /// The body came too slowly, or the server is about to stop; what came is kept.
    case stalled
    /// The body is not of the media type its protocol has for upload data.
    case wrongMediaType
    /// The upload was made from others and takes no bytes.
    case concatenated
    /// Bodies are taken as they are.
    case codedBody
}
