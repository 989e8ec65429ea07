import HTTP
import JSON
import MessagingWire
import PlatformAPI
import Testing

@Suite struct `The table of endpoints` {
    @Test func `no method stands twice on a path`() {
        let lines = Endpoint.all.map { "\($0.method.rawValue) \($0.path)" }
        #expect(Set(lines).count == lines.count)
    }

    @Test func `every line says what it does in one sentence`() {
        #expect(Endpoint.all.allSatisfy { $0.summary.hasSuffix(".") && $0.summary.count < 70 })
    }

    @Test func `all paths lie under the application`() {
        #expect(Endpoint.all.allSatisfy { $0.path.description.hasPrefix("/apps/{app}") })
    }

    @Test(arguments: APIVersion.allCases)
    func `every line is described, and a line with a body has an example (X11)`(
        version: APIVersion
    ) async throws {
        let description = try await Described.of(version.rawValue)
        for endpoint in Endpoint.all where endpoint.versions.contains(version) {
            let line = "\(endpoint.method.rawValue) \(endpoint.path)"
            let operation = description.operations.first { "\($0.method) \($0.path)" == line }
            #expect(operation != nil, "\(line) has no Operation behind it")
            let content = operation?.json["requestBody"]?["content"]
            #expect(content?.members.allSatisfy { $0.value["example"] != nil } ?? true, "\(line)")
        }
    }

    @Test func `only creations take a key (1_9)`() {
        let keyed = Endpoint.all.filter(\.isKeyed)
        #expect(
            Set(keyed.map(\.path.description)) == [
                "/apps/{app}/conversations", "/apps/{app}/conversations/{conversation}/messages",
                "/apps/{app}/announcements", "/apps/{app}/notifications",
                "/apps/{app}/users/{user}/conversations",
                "/apps/{app}/users/{user}/conversations/{conversation}/messages",
            ])
        #expect(keyed.allSatisfy { $0.method == .post })
    }

    @Test(
        arguments: Endpoint.all.flatMap { endpoint in
            endpoint.versions.sorted().map { version in
                ("\(endpoint.method.rawValue) \(endpoint.path)", version)
            }
        })
    func `each line has a golden exchange that succeeds in each version it has`(
        line: String, version: APIVersion
    ) throws {
        var router = Router<String>(allowsTrailingSlash: true)
        for endpoint in Endpoint.all {
            router.add(
                endpoint.method, endpoint.path, "\(endpoint.method.rawValue) \(endpoint.path)")
        }
        guard
            let endpoint = Endpoint.all.first(where: { "\($0.method.rawValue) \($0.path)" == line }
            ),
            endpoint.versions.contains(version)
        else { return }
        let played = try ExchangeFile.all().filter { $0.versions.contains(version.rawValue) }
            .flatMap(\.exchanges).filter { (200..<300).contains($0.status) }
            .contains { exchange in
                guard let method = Method(rawValue: exchange.request.method),
                    case .found(line, _, _) = router.match(
                        method, RequestTarget(exchange.request.target))
                else { return false }
                return true
            }
        #expect(played)
    }
}
