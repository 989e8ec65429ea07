import Console
import HTTP
import Telemetry
import Testing
import Uploads

@testable import HTTPTransport
@testable import ParleyServer

@Suite struct `The metrics` {
    @Test func `equal the table in the article Metrics`() throws {
        #expect(try Repository.article("Metrics").contains(MetricFamily.markdownTable))
    }

    @Test func `have names in Prometheus's style`() {
        for family in MetricFamily.all {
            let isPlain = family.name.utf8.allSatisfy { byte in
                (0x61...0x7A).contains(byte) || byte == UInt8(ascii: "_")
            }
            #expect(isPlain, "\(family.name)")
            #expect(family.unit == .none || family.name.hasSuffix("_\(family.unit.rawValue)"))
            for ending in ["_total", "_count", "_sum", "_bucket"] {
                #expect(!family.name.hasSuffix(ending))
            }
            #expect(family.help.hasSuffix("."))
        }
        #expect(Set(MetricFamily.all.map(\.name)).count == MetricFamily.all.count)
    }

    @Test(arguments: MetricsFormat.allCases)
    func `are all on the page, each once`(format: MetricsFormat) async throws {
        let testServer = TestServer([("metrics.listen", "127.0.0.1:0")])
        let components = try await testServer.components()
        let page = try ParsedMetrics(await components.metrics.page(format))
        let names = MetricFamily.all.map { family in
            format == .text ? family.sampleName : family.name
        }
        #expect(Set(page.families.map(\.name)) == Set(names))
        for family in MetricFamily.all where family.labels.isEmpty && family.kind != .histogram {
            #expect(page.samples[family.sampleName] != nil, "\(family.name)")
        }
    }

    @Test func `H212 a request is counted by route, method and class of its status`() throws {
        let metrics = RequestMetrics(loops: 2)
        var record = record("/apps/{app}/conversations/{conversation}", "GET", 200)
        record.bytesIn = 100
        record.bytesOut = 1000
        metrics.count(record)
        record.loop = 1
        metrics.count(record)
        metrics.count(self.record("/uploads/{token}", "PUT", 308))
        metrics.count(self.record("", "", 400))
        metrics.count(self.record("/health/live", "GET", 0))
        let page = try page(metrics)
        let route = #"route="/apps/{app}/conversations/{conversation}""#
        #expect(page[#"parley_requests_total{\#(route),method="GET",class="2xx"}"#] == 2)
        #expect(page["parley_request_duration_seconds_bucket{\(route),le=\"0.0025\"}"] == 2)
        #expect(page["parley_request_duration_seconds_bucket{\(route),le=\"0.001\"}"] == 0)
        #expect(
            page[#"parley_requests_total{route="/uploads/{token}",method="PUT",class="3xx"}"#] == 1)
        #expect(page[#"parley_requests_total{route="none",method="other",class="4xx"}"#] == 1)
        #expect(
            page[#"parley_requests_total{route="/health/live",method="GET",class="none"}"#] == 1)
        #expect(page["parley_request_bytes_total"] == 200)
        #expect(page["parley_answer_bytes_total"] == 2000)
    }

    @Test func `H212 no path, id or method of a client becomes a label`() throws {
        let metrics = RequestMetrics(loops: 1)
        for number in 0..<500 {
            metrics.count(record("/apps/\(number)/conversations", "M\(number)", number))
        }
        let text = page(text: metrics)
        let lines = text.split(separator: "\n").filter { line in
            line.hasPrefix("parley_requests_total")
        }
        #expect(lines.count == 5)
        #expect(
            lines.allSatisfy { line in line.contains(#"{route="other",method="other",class="#) })
    }

    @Test func `H212 every route that can be answered is a label`() {
        let routes = Set(RequestMetrics.routes)
        #expect(routes.count == RequestMetrics.routes.count)
        for line in EndpointTable.markdown.split(separator: "\n").dropFirst(2) {
            let path = line.split(separator: "`")[3]
            #expect(routes.contains(String(path)))
        }
    }

    @Test func `streams and transfers count for the charts of the console, but not their time`() {
        let metrics = RequestMetrics(loops: 1)
        for (route, method) in [
            ("/apps/{app}/events", "GET"), ("/console/api/stream", "GET"),
            (Uploads.route, "PUT"), (Downloads.route, "GET"),
            ("/apps/{app}/conversations", "GET"), ("/apps/{app}/conversations", "POST"),
            ("/apps/{app}/conversations/{conversation}/messages", "POST"),
        ] { metrics.count(record(route, method, 200)) }
        let counters = metrics.counters()
        #expect(counters.totals[.requests] == 7)
        for histogram in [counters.send, counters.read, counters.other] {
            #expect(histogram?.counts.reduce(0, +) == 1)
        }
    }

    @Test func `turns of a loop are observed by its number`() throws {
        let metrics = RequestMetrics(loops: 2)
        metrics.finishedTurn(loop: 1, nanoseconds: 3_000_000)
        let page = try page(metrics)
        #expect(page[#"parley_loop_turn_seconds_bucket{loop="1",le="0.001"}"#] == 0)
        #expect(page[#"parley_loop_turn_seconds_bucket{loop="1",le="0.005"}"#] == 1)
        #expect(page[#"parley_loop_turn_seconds_count{loop="0"}"#] == nil)
    }

    @Test func `uploads are counted by their protocol (11.11)`() async throws {
        let testServer = TestServer([("metrics.listen", "127.0.0.1:0")])
        let components = try await testServer.components()
        let draft = UploadDraft(
            owner: UploadOwner(application: "app"), contentID: "0190aaaa-content",
            mediaType: nil, length: 5)
        _ = try await components.uploads.create(draft)
        let request = Request(
            method: .put, target: RequestTarget("/uploads/unknown"), fields: Fields([]))
        _ = components.uploads.answer(to: request, by: components.api)
        components.metrics.observe(.tus, .milliseconds(2))
        let samples = try ParsedMetrics(await components.metrics.page(.text)).samples
        #expect(samples[#"parley_uploads_open{dialect="api"}"#] == 1)
        #expect(samples[#"parley_upload_reserved_bytes{dialect="api"}"#] == 5)
        #expect(
            samples[#"parley_upload_requests_total{dialect="neutral",status="404"}"#] == 1)
        #expect(samples[#"parley_upload_commit_duration_seconds_count{dialect="tus"}"#] == 1)
        #expect(samples["parley_contents_erased_total"] == 0)
    }

    @Test func `the process is measured`() {
        let usage = ProcessUsage()
        #expect(usage.cpuTime > 0)
        #expect(usage.residentMemory > 1 << 20)
        #expect(usage.openDescriptors > 0)
        #expect(usage.openDescriptors <= usage.descriptorLimit)
        let now = Int(systemMilliseconds()) * 1_000_000
        // The kernel's clock ticks 100 times a second, and its boot time is a whole second.
        #expect(ProcessUsage.startTime < now + 2_000_000_000)
        #expect(ProcessUsage.startTime > now - 86_400_000_000_000)
    }

    private func record(_ route: String, _ method: String, _ status: Int) -> RequestRecord {
        RequestRecord(
            id: RequestID(high: 0, low: 0), method: method, route: route, status: status,
            bytesIn: 0, bytesOut: 0, duration: 2_000_000, peer: .unknown)
    }

    private func page(text metrics: RequestMetrics) -> String {
        var page = MetricsWriter(.text)
        metrics.write(to: &page)
        return String(decoding: page.bytes, as: UTF8.self)
    }

    private func page(_ metrics: RequestMetrics) throws -> [String: Double] {
        try ParsedMetrics(Array(page(text: metrics).utf8)).samples
    }
}

/// A page of metrics, read strictly by the grammar of the text format.
struct ParsedMetrics {
    /// The declaration of each metric, in the order of the page.
    var families: [(name: String, kind: String, help: String)] = []
    /// The value of each sample, by its name and labels as text.
    var samples: [String: Double] = [:]

    init(_ bytes: [UInt8]) throws {
        let text = try #require(String(validating: bytes, as: UTF8.self))
        #expect(text.hasSuffix("\n"))
        var help: [Substring] = []
        for line in text.split(separator: "\n") where line != "# EOF" {
            let fields = line.split(separator: " ", maxSplits: 3)
            switch (fields[0], fields[1]) {
            case ("#", "HELP"): help = fields
            case ("#", "TYPE"):
                // Each metric has both once, HELP first.
                #expect(help[2] == fields[2])
                #expect(!families.contains { family in family.name == fields[2] })
                families.append((String(fields[2]), String(fields[3]), String(help[3])))
            case ("#", "UNIT"): #expect(fields[2].hasSuffix("_" + fields[3]))
            default:
                let index = try #require(line.lastIndex(of: " "))
                let family = try #require(families.last)
                #expect(line.hasPrefix(family.name))
                let name = String(line[..<index])
                #expect(samples[name] == nil)
                let value = try #require(Double(String(line[line.index(after: index)...])))
                samples[name] = value
            }
        }
    }
}
