import HTTP

/// A head in progress; only a connection that waits for the rest of one pays for it.
final class PartialHead {
    var parser: RequestParser

    init(_ parser: RequestParser) { self.parser = parser }
}
