/// The request methods this server implements somewhere (RFC 9110 §9).
///
/// A method outside this list is answered before it reaches a service (H12); `CONNECT` and `TRACE` are
/// left out on purpose (H19, H20).
public enum Method: String, Sendable, Hashable, CaseIterable {
    case get = "GET"
    case head = "HEAD"
    case post = "POST"
    case put = "PUT"
    case patch = "PATCH"
    case delete = "DELETE"
    case options = "OPTIONS"
}
