import Dispatch
import Testing

@testable import Telemetry

@Suite struct `A page of metrics` {
    private let requests = MetricFamily(
        "http_requests", .counter, labels: ["route", "class"], "Answers \"as\" counted.\nAll\\")
    private let wait = MetricFamily("wait_seconds", .histogram, in: .seconds, "Time waited.")
    private let size = MetricFamily("memory_bytes", .gauge, in: .bytes, "Memory held.")

    @Test func `writes Prometheus's text format`() {
        #expect(
            page(.text) == """
                # HELP http_requests_total Answers "as" counted.\\nAll\\\\
                # TYPE http_requests_total counter
                http_requests_total{route="/a",class="2xx"} 3
                http_requests_total{route="other",class="other"} 1
                # HELP wait_seconds Time waited.
                # TYPE wait_seconds histogram
                wait_seconds_bucket{le="0.005"} 1
                wait_seconds_bucket{le="1"} 2
                wait_seconds_bucket{le="+Inf"} 3
                wait_seconds_sum 3.50500001
                wait_seconds_count 3
                # HELP memory_bytes Memory held.
                # TYPE memory_bytes gauge
                memory_bytes -4096

                """)
    }

    @Test func `writes OpenMetrics as specified`() {
        #expect(
            page(.openMetrics) == """
                # HELP http_requests Answers \\"as\\" counted.\\nAll\\\\
                # TYPE http_requests counter
                http_requests_total{route="/a",class="2xx"} 3
                http_requests_total{route="other",class="other"} 1
                # HELP wait_seconds Time waited.
                # TYPE wait_seconds histogram
                # UNIT wait_seconds seconds
                wait_seconds_bucket{le="0.005"} 1
                wait_seconds_bucket{le="1.0"} 2
                wait_seconds_bucket{le="+Inf"} 3
                wait_seconds_sum 3.50500001
                wait_seconds_count 3
                # HELP memory_bytes Memory held.
                # TYPE memory_bytes gauge
                # UNIT memory_bytes bytes
                memory_bytes -4096
                # EOF

                """)
    }

    @Test func `escapes the values of labels`() {
        let family = MetricFamily("name_info", .gauge, labels: ["name"], "Names.")
        var page = MetricsWriter(.text)
        page.begin(family)
        page.sample(["a\"b\\c\nd é"], 1)
        #expect(
            String(decoding: page.bytes, as: UTF8.self).hasSuffix(
                "name_info{name=\"a\\\"b\\\\c\\nd é\"} 1\n"))
    }

    @Test(arguments: [
        (0, "0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (2_000_000_000, "2"),
        (-250_000_000, "-0.25"), (.max, "9223372036.854775807"), (.min, "-9223372036.854775808"),
    ]) func `shows nanoseconds exactly as seconds`(ticks: Int, text: String) {
        var bytes: [UInt8] = []
        MetricUnit.seconds.append(ticks, to: &bytes)
        #expect(String(decoding: bytes, as: UTF8.self) == text)
    }

    private func page(_ format: MetricsFormat) -> String {
        let counters = CounterTable(
            requests, [LabelValues(["/a", "/b"]), LabelValues(["2xx", "5xx"])], shards: 2)
        counters.add(2, row: 0, shard: 0)
        counters.add(row: 0, shard: 1)
        counters.add(row: 8, shard: 1)
        let histogram = HistogramTable(wait, bounds: [5_000_000, 1_000_000_000])
        for value in [5_000_000, 1_000_000_000, 2_500_000_010] { histogram.observe(value) }
        var page = MetricsWriter(format)
        counters.write(to: &page)
        histogram.write(to: &page)
        page.write(size, -4096)
        page.end()
        return String(decoding: page.bytes, as: UTF8.self)
    }
}

@Suite struct `Tables of metrics` {
    private let labels = LabelValues(["/", "/apps/{app}", "/apps/{ape}", "/health/live", ""])

    @Test func `H212 a value that was not declared is "other"`() {
        #expect(labels.all == ["/", "/apps/{app}", "/apps/{ape}", "/health/live", "", "other"])
        for (index, value) in labels.all.enumerated() {
            #expect(labels.index(of: String(decoding: Array(value.utf8), as: UTF8.self)) == index)
        }
        for value in ["/apps/7b2e4c1a", "/apps/{apq}", "x", String(repeating: "x", count: 1000)] {
            #expect(labels.index(of: value) == 5)
        }
    }

    @Test func `H212 a table has as many rows as its labels have combinations, permanently`() {
        let rows = LabelRows([LabelValues(["a", "b"]), LabelValues(["c"])])
        #expect(
            (0..<rows.count).map(rows.values) == [
                ["a", "c"], ["a", "other"], ["b", "c"], ["b", "other"], ["other", "c"],
                ["other", "other"],
            ])
    }

    @Test func `additions from several threads are all counted`() {
        let family = MetricFamily("things", .counter, labels: ["kind"], "Things.")
        let kinds = LabelValues((0..<100).map { number in "kind \(number)" })
        let table = CounterTable(family, [kinds], shards: 3)
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            for step in 0..<10_100 { table.add(row: step % 101, shard: thread % 3) }
        }
        var page = MetricsWriter(.text)
        table.write(to: &page)
        let lines = String(decoding: page.bytes, as: UTF8.self).split(separator: "\n").dropFirst(2)
        #expect(lines.count == 101)
        #expect(lines.allSatisfy { line in line.hasSuffix(" 600") })
    }

    @Test func `an empty counter without labels is zero, one with labels is left out`() {
        var page = MetricsWriter(.text)
        CounterTable(MetricFamily("a", .counter, "A.")).write(to: &page)
        CounterTable(
            MetricFamily("b", .counter, labels: ["kind"], "B."), [LabelValues(["x"])]
        ).write(to: &page)
        let text = String(decoding: page.bytes, as: UTF8.self)
        #expect(text.contains("\na_total 0\n"))
        #expect(!text.contains("b_total{"))
    }

    @Test(arguments: [
        (-1, [1, 1, 1]), (10, [1, 1, 1]), (11, [0, 1, 1]), (20, [0, 1, 1]), (21, [0, 0, 1]),
    ]) func `a bucket takes values up to its bound`(value: Int, expected: [Int]) {
        let table = HistogramTable(
            MetricFamily("size_bytes", .histogram, in: .bytes, "Sizes."), bounds: [10, 20])
        table.observe(value)
        var page = MetricsWriter(.text)
        table.write(to: &page)
        let counts = String(decoding: page.bytes, as: UTF8.self).split(separator: "\n")
            .filter { line in line.hasPrefix("size_bytes_bucket") }
            .compactMap { line in line.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts == expected)
    }
}
