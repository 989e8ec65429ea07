import HTTP
import JSON
import Telemetry
import Testing

@testable import ParleyServer

@Suite struct `The metrics endpoint` {
    private static let token = "a-token-for-the-metrics"

    @Test(arguments: [HTTP.Method.get, .head, .post, .options])
    func `is not on the main listener without a configured token`(
        method: HTTP.Method
    ) async throws {
        let testServer = TestServer([("metrics.listen", "127.0.0.1:0")])
        let components = try await testServer.components()
        #expect(await components.service.response(to: method, "/metrics").status == .notFound)
    }

    @Test func `is served with the token`() async throws {
        let testServer = TestServer([("metrics.token", Self.token)])
        let components = try await testServer.components()
        for scheme in ["Bearer", "bearer"] {
            let response = await components.service.response(
                to: .get, "/metrics", fields: [("Authorization", "\(scheme) \(Self.token)")])
            #expect(response.status == .ok)
            #expect(response.fields["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8")
            #expect(response.fields["Cache-Control"] == "no-store")
            #expect(try ParsedMetrics(response.bytes).families.count == MetricFamily.all.count)
        }
    }

    @Test(arguments: [
        "Bearer a-token-for-the-metricz", "Bearer a-token-for-the-metrics1", "Bearer x",
    ]) func `H210 gives every other token the same response`(line: String) async throws {
        let testServer = TestServer([("metrics.token", Self.token)])
        let components = try await testServer.components()
        let response = await components.service.response(
            to: .get, "/metrics", fields: [("Authorization", line)])
        let other = await components.service.response(
            to: .get, "/metrics?token=\(Self.token)", fields: [("Authorization", "Bearer y")])
        #expect(response.status == .unauthorized)
        #expect(response.fields["WWW-Authenticate"] == #"Bearer error="invalid_token""#)
        #expect(response.bytes == other.bytes)
        #expect(response.fields.bytes == other.fields.bytes)
    }

    @Test(arguments: [
        ([], "Bearer"), ([("Authorization", "Basic \(token)")], "Bearer"),
        ([("Authorization", "Bearer  \(token)")], #"Bearer error="invalid_token""#),
        (
            [("Authorization", "Bearer \(token)"), ("Authorization", "Bearer \(token)")],
            #"Bearer error="invalid_token""#
        ),
    ]) func `H211 requires a token when the header has none`(
        fields: [(String, String)], challenge: String
    ) async throws {
        let testServer = TestServer([("metrics.token", Self.token)])
        let components = try await testServer.components()
        let response = await components.service.response(to: .get, "/metrics", fields: fields)
        #expect(response.status == .unauthorized)
        #expect(response.fields["WWW-Authenticate"] == challenge)
    }

    @Test func `is the only path on its own listener`() async throws {
        let components = try await TestServer().components()
        let service = MetricsService(MetricsEndpoint(components.metrics, token: nil))
        #expect(await service.response(to: .get, "/metrics").status == .ok)
        #expect(await service.response(to: .head, "/metrics").status == .ok)
        let refused = await service.response(to: .post, "/metrics")
        #expect(refused.status == .methodNotAllowed)
        #expect(refused.fields["Allow"] == "GET, HEAD, OPTIONS")
        #expect(refused.fields["Cache-Control"] == "no-store")
        #expect(
            try JSONDocument(refused.bytes).root["detail"]?.string
                == "The path offers GET, HEAD, OPTIONS.")
        for path in ["/", "/metrics/", "/health/ready", "/apps/a/conversations", "/%zz"] {
            #expect(await service.response(to: .get, path).status == .notFound)
        }
    }

    @Test(arguments: [
        (nil, MetricsFormat.text), ("*/*", .text), ("text/plain;version=0.0.4", .text),
        ("application/openmetrics-text; version=1.0.0", .openMetrics),
        (
            "application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
            .openMetrics
        ),
        ("Application/OpenMetrics-Text ; q=0.5", .openMetrics),
        ("application/openmetrics-text;q=0, text/plain", .text),
        ("application/openmetrics-text;q=0.000", .text), ("application/openmetrics", .text),
    ]) func `is in OpenMetrics if the client accepts it`(accept: String?, format: MetricsFormat) {
        #expect(MetricsFormat(accept: accept) == format)
    }
}
