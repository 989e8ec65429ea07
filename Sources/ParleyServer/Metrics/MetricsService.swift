import HTTP

/// What the listener of `metrics.listen` serves: the page and nothing else.
final class MetricsService: Service {
    private let door: MetricsDoor
    private let router: Router<Void>

    init(_ door: MetricsDoor) {
        self.door = door
        var router = Router<Void>()
        router.add(.get, MetricsDoor.path, ())
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
