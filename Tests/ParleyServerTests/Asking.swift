import HTTP

extension Service {
    /// The whole answer to a request without a body, with whatever it has to wait for.
    func response(
        to method: HTTP.Method, _ path: String, fields: [(String, String)] = []
    ) async -> Response {
        let request = Request(
            method: method, target: RequestTarget(path), fields: Fields(fields))
        switch answer(to: request).outcome {
        case .response(let response): return response
        case .work(_, let work): return await work(NoBody())
        case .upgrade(let upgrade): return Response(upgrade)
        }
    }
}

extension Response {
    /// The content, when it is in memory.
    var octets: [UInt8] {
        if case .bytes(let octets) = content { octets } else { [] }
    }
}

/// The body of a request without one.
private final class NoBody: RequestBody {
    var length: Int64? { 0 }
    func read(into buffer: inout BodyBuffer) async throws(BodyError) {}
    func interrupt() {}
}
