import Bytes
import HTTP
import PlatformAPI
import Telemetry

/// `GET /metrics`: open to every client on a separate listener, but only with the token on the
/// main one, because the numbers show how close a server is to its limits.
struct MetricsEndpoint: Sendable {
    static let path: PathTemplate = "/metrics"

    private let metrics: ServerMetrics
    /// SHA-256 of the token; without one the main listener has no metrics.
    private let digest: [UInt8]?

    init(_ metrics: ServerMetrics, token: String?) {
        self.metrics = metrics
        digest = token.map { token in SHA256.digest(of: Array(token.utf8)) }
    }

    /// Whether the main listener serves the metrics.
    var isOpen: Bool { digest != nil }

    /// Whether a request has the token. Digests are compared in constant time (H210).
    func admits(_ request: Request) -> Bool {
        guard let digest, let token = try? BearerToken(request.fields) else { return false }
        return Signature.matches(digest, SHA256.digest(of: token.secret))
    }

    /// The metrics in the format that the request accepts.
    func answer(to request: Request) -> Answer {
        let format = MetricsFormat(accept: request.fields.joined("Accept"))
        return Answer(Self.path.description) { [metrics] _ in
            var response = Response(.ok, format.mediaType, await metrics.page(format))
            response.fields.add("Cache-Control", "no-store")
            response.fields.add("Vary", "Accept")
            return response
        }
    }
}

extension MetricsFormat {
    /// OpenMetrics if the client accepts it, as Prometheus does; otherwise the text format.
    init(accept: String?) {
        let ranges = (accept ?? "").lowercased().split(separator: ",").map { range in
            range.filter { character in character != " " && character != "\t" }
                .split(separator: ";")
        }
        let isOpen = ranges.contains { parts in
            parts.first == "application/openmetrics-text"
                && !parts.contains { part in part.hasPrefix("q=") && Double(part.dropFirst(2)) == 0
                }
        }
        self = isOpen ? .openMetrics : .text
    }
}

/// Serves the metrics, and nothing else, on `metrics.listen`.
final class MetricsService: Service {
    private let endpoint: MetricsEndpoint
    private let router: Router<Void>

    init(_ endpoint: MetricsEndpoint) {
        self.endpoint = endpoint
        var router = Router<Void>()
        router.add(.get, MetricsEndpoint.path, ())
        self.router = router
    }

    func answer(to request: Request) -> Answer {
        switch router.match(request.method, request.target) {
        case .found: return endpoint.answer(to: request)
        case .otherMethods(let template, let allowed):
            return Answer(template.description, methods(allowed, of: request.method))
        case .unknown, .fault: return Answer("", refusal(Self.unknown))
        }
    }

    private func methods(_ allowed: [Method], of method: Method) -> Response {
        var response = method == .options ? Response(.noContent) : refusal(Self.readOnly)
        response.fields.add("Allow", allowed.map(\.rawValue).joined(separator: ", "))
        response.fields.add("Cache-Control", "no-store")
        return response
    }

    private static let readOnly = Refusal(
        .methodNotAllowed, "H65", "The path offers GET, HEAD, OPTIONS.")
    private static let unknown = Refusal(.notFound, "H65", "This listener serves only /metrics.")
}
