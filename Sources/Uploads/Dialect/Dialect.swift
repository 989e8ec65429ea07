internal import HTTP

/// The rules one request follows (§2); they belong to the request, not to the upload.
///
/// An upload created in one dialect may be continued in another: offset, length and state are
/// shared by all of them.
enum Dialect: Equatable, Sendable {
    /// A and D: a session with `Content-Range`, or one plain request.
    case contentRange
    /// B: tus, and the method that counts once an override has replaced the one that was sent.
    case tus(HTTP.Method)
    /// C: the IETF protocol, in one of its versions.
    case interop(InteropVersion)
    /// No signal at all: somebody looks at an upload, or ends it.
    case neutral
}
