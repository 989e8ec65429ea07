import HTTP

/// What a listener without TLS answers when everything is to go through TLS (H173).
final class RedirectService: Service {
    private let base: String

    /// Sends everybody to a base, never to what a request names.
    init(to base: String) { self.base = base }

    func answer(to request: Request) -> Answer {
        var response = Response(.permanentRedirect)
        let query = request.target.query.map { query in "?\(query)" } ?? ""
        response.fields.add("Location", base + request.target.path + query)
        return Answer("redirect", response)
    }
}
