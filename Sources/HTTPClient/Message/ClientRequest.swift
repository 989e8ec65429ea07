public import HTTP

/// A request to another server.
public struct ClientRequest: Sendable {
    /// Its method.
    public var method: Method
    /// `http` or `https`, absolute, with everything in it percent-encoded; the path is sent as it is.
    public var url: String
    /// Field lines in the order they are sent; `Host` and `Content-Length` are added, and no `Expect`:
    /// who adds one may get the head of a 417 and behind it the body of another answer.
    public var fields: [(name: String, value: String)]
    /// What is sent after the head.
    public var body: ClientBody
    /// How long reaching the server may take, from the look-up of its name to the end of TLS's handshake.
    public var connectsWithin: Duration = .seconds(10)
    /// How long all of it may take; `nil`: as long as something moves.
    public var endsWithin: Duration?
    /// How long its answer may take, to the last octet, once the last octet of its body was handed to the
    /// connection; `nil`: no bound of its own. It is for requests with a body.
    public var answersWithin: Duration?
    /// How long nothing may move in either direction, in whole seconds.
    public var stallsFor: Duration = .seconds(30)
    /// Called with the number of octets of the body handed to the connection so far; quick, on a
    /// thread of the client's.
    public var onSent: (@Sendable (Int64) -> Void)?

    /// Makes a request.
    public init(
        _ method: Method, _ url: String, fields: [(name: String, value: String)] = [],
        body: ClientBody = .none
    ) {
        self.method = method
        self.url = url
        self.fields = fields
        self.body = body
    }
}
