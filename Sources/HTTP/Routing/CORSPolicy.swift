/// A cross-origin resource sharing policy: which pages may use some routes from a browser (Fetch;
/// H122–H124).
///
/// Requests that a browser sends with its own credentials, such as cookies, may be allowed for clients that ask for
/// them; no route accepts such credentials, and tokens in headers are none.
public struct CORSPolicy: Sendable {
    private let origins: [String]
    private let requestHeaders: String
    private let exposedHeaders: String
    private let maxAge: Int64
    private let allowsCredentials: Bool

    /// Makes a policy.
    ///
    /// - Parameters:
    ///   - origins: Serialized origins such as `https://chat.example.com`, compared byte by byte;
    ///     `*` for every origin, `null` for opaque ones. An empty list disables the policy.
    ///   - requestHeaders: Request headers that pages may send besides the safelisted ones.
    ///   - exposedHeaders: Response headers that pages may read.
    ///   - maxAge: How long a browser may cache a preflight, in seconds.
    ///   - allowsCredentials: Whether pages may send requests in the browser's credentials mode `include`. The answer
    ///     then names the origin of the request, because browsers refuse `*` in that mode.
    public init(
        origins: [String], requestHeaders: [String], exposedHeaders: [String], maxAge: Int64 = 600,
        allowsCredentials: Bool = false
    ) {
        self.origins = origins
        self.requestHeaders = requestHeaders.joined(separator: ", ")
        self.exposedHeaders = exposedHeaders.joined(separator: ", ")
        self.maxAge = maxAge
        self.allowsCredentials = allowsCredentials
    }

    /// False when no origin is allowed; then nothing is added to responses.
    public var isEnabled: Bool { !origins.isEmpty }

    /// The same policy for other origins.
    public func allowing(_ origins: [String]) -> CORSPolicy {
        CORSPolicy(policy: self, origins: origins)
    }

    private init(policy: CORSPolicy, origins: [String]) {
        self.origins = origins
        requestHeaders = policy.requestHeaders
        exposedHeaders = policy.exposedHeaders
        maxAge = policy.maxAge
        allowsCredentials = policy.allowsCredentials
    }

    /// Whether pages of an origin may use the routes.
    public func allows(_ origin: String) -> Bool { answer(to: origin) != nil }

    /// Whether a text is a valid entry of ``init(origins:requestHeaders:exposedHeaders:maxAge:)``:
    /// `*`, `null`, or an origin as browsers write it — scheme, host, and the port unless it is the
    /// default, in lower case, without a path.
    public static func isOrigin(_ text: String) -> Bool {
        if text == "*" || text == "null" { return true }
        let parts = text.split(separator: "://", omittingEmptySubsequences: false)
        guard parts.count == 2, !parts[0].isEmpty, !parts[1].isEmpty else { return false }
        let isPlain = text.utf8.allSatisfy { byte in
            (0x21...0x7E).contains(byte) && !(0x41...0x5A).contains(byte)
        }
        let hasRest = parts[1].utf8.contains { byte in "/?#@,*\"".utf8.contains(byte) }
        let ownPort = ["http": ":80", "https": ":443"][String(parts[0])]
        return isPlain && !hasRest && ownPort.map { port in !parts[1].hasSuffix(port) } ?? true
    }

    /// Whether a request is a preflight, which a browser sends before the actual request.
    public static func isPreflight(_ request: Request) -> Bool {
        request.method == .options && request.fields.contains("Origin")
            && request.fields.contains("Access-Control-Request-Method")
    }

    /// Adds the fields of every response of the routes, errors included (H124).
    ///
    /// `Vary` is added whether the origin is allowed or not: a cache must not serve one origin's
    /// response to another (H122).
    public func add(to fields: inout ResponseFields, for request: Request) {
        guard isEnabled else { return }
        fields.add("Vary", "Origin")
        guard let origin = answer(to: request.fields["Origin"]) else { return }
        fields.add("Access-Control-Allow-Origin", origin)
        if allowsCredentials { fields.add("Access-Control-Allow-Credentials", "true") }
        if !exposedHeaders.isEmpty {
            fields.add("Access-Control-Expose-Headers", exposedHeaders)
        }
    }

    /// Adds the fields of the response to a preflight; nothing for an origin that is not allowed
    /// (H123).
    ///
    /// - Parameter methods: The methods of the route, as in `Allow`.
    public func addPreflight(
        to fields: inout ResponseFields, for request: Request, methods: String
    ) {
        guard Self.isPreflight(request), answer(to: request.fields["Origin"]) != nil else {
            return
        }
        fields.add("Access-Control-Allow-Methods", methods)
        if !requestHeaders.isEmpty {
            fields.add("Access-Control-Allow-Headers", requestHeaders)
        }
        fields.add("Access-Control-Max-Age", "\(maxAge)")
    }

    /// The configured text is sent, not the client's, unless every origin is allowed with credentials.
    private func answer(to origin: String?) -> String? {
        if origins.contains("*") {
            guard allowsCredentials else { return "*" }
            return origin.flatMap { origin in Self.isOrigin(origin) && origin != "*" ? origin : nil
            }
        }
        guard let origin else { return nil }
        return origins.first { known in known.utf8.elementsEqual(origin.utf8) }
    }
}

extension Answer {
    /// This answer with the policy's fields added to its response (H124).
    public func with(_ policy: CORSPolicy, for request: Request) -> Answer {
        guard policy.isEnabled else { return self }
        return changing { response in
            var response = response
            policy.add(to: &response.fields, for: request)
            return response
        }
    }

    private func changing(_ change: @escaping @Sendable (Response) -> Response) -> Answer {
        var answer: Answer
        switch outcome {
        case .response(let response): answer = Answer(route, change(response))
        case .work(let policy, let work):
            answer = Answer(route, policy) { body in change(await work(body)) }
        // The handshake checks the origin of an upgrade (H129).
        case .upgrade: answer = self
        }
        answer.user = user
        return answer
    }
}
