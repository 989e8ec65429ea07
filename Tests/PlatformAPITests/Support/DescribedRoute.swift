import HTTP
import MessagingWire
import TestSupport
import Testing

@testable import PlatformAPI

/// An endpoint of the Platform API or of the Client API in one version, as an argument of tests.
struct DescribedRoute: Sendable, CustomTestStringConvertible {
    /// The method and the template of the path.
    let name: String
    let version: APIVersion
    /// Whether it belongs to the Client API.
    let isOfClients: Bool
    /// Whether it needs a token or a session.
    let needsCredential: Bool

    var testDescription: String { "\(name) in \(version.rawValue)" }

    /// All endpoints of both, in the newest version that offers them and in one older version, which are taken in turn; with
    /// `PARLEY_TEST_ROUNDS=all` in each version.
    static let all = Endpoint.routed.enumerated().flatMap { index, endpoint in
        let versions = endpoint.versions.sorted()
        return versions.enumerated().compactMap { number, version -> DescribedRoute? in
            let isNewest = number == versions.count - 1
            guard TestRounds.areAll || isNewest || number == index % (versions.count - 1) else {
                return nil
            }
            return DescribedRoute(
                name: "\(endpoint.method.rawValue) \(endpoint.path)", version: version,
                isOfClients: endpoint.family == .client, needsCredential: endpoint.needsCredential)
        }
    }

    static let clients = all.filter(\.isOfClients)
    static let platform = all.filter { route in !route.isOfClients }

    /// The description of its API.
    var description: DescribedAPI {
        get async throws {
            isOfClients
                ? try await DescribedAPI.ofClients(version.rawValue)
                : try await DescribedAPI.of(version.rawValue)
        }
    }

    /// Its description.
    var operation: DescribedAPI.Operation {
        get async throws {
            try #require(
                try await description.operations.first { operation in
                    "\(operation.method) \(operation.path)" == name
                })
        }
    }

    /// A new application for its example.
    func examples() async throws -> DescriptionExamples {
        try await DescriptionExamples(version: version.rawValue, isOfClients: isOfClients)
    }
}
