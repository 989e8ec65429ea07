import Bytes
import HTTP
import PlatformAPI
import Telemetry

/// `GET /metrics`, on a listener of its own for everybody who reaches it, on the main one only for
/// whoever brings the token: the numbers tell a stranger how busy and how close to its limits a server
/// is.
struct MetricsEndpoint: Sendable {
    static let path: PathTemplate = "/metrics"

    let metrics: Metrics
    /// SHA-256 of the token; without one the main listener has no such page.
    private let digest: [UInt8]?

    init(_ metrics: Metrics, token: String?) {
        self.metrics = metrics
        digest = token.map { token in SHA256.digest(of: Array(token.utf8)) }
    }

    /// Whether the main listener has the page at all.
    var isOpen: Bool { digest != nil }

    /// Whether a request brings the token. Digests are compared, in a time that does not depend on
    /// where they differ (H210).
    func admits(_ request: Request) -> Bool {
        guard let digest, let token = try? BearerToken(request.fields) else { return false }
        return Signature.matches(digest, SHA256.digest(of: token.secret))
    }

    /// The page, in the format the request asks for.
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
    /// OpenMetrics for whoever says that he reads it, as Prometheus does; the text format for everybody
    /// else.
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

/// What the listener of `metrics.listen` serves: the page and nothing else.
final class MetricsService: Service {
    private let door: MetricsEndpoint
    private let router: Router<Void>

    init(_ door: MetricsEndpoint) {
        self.door = door
        var router = Router<Void>()
        router.add(.get, MetricsEndpoint.path, ())
        self.router = router
    }

    func answer(to request: Request) -> Answer {
        switch router.match(request.method, request.target) {
        case .found: return door.answer(to: request)
        case .otherMethods(let template, let allowed):
            return Answer(
                template.description, ServerService.methods(allowed, of: request.method))
        case .unknown, .fault: return Answer("", refusal(Self.unknown))
        }
    }

    private static let unknown = Refusal(.notFound, "H65", "Here is only /metrics.")
}
