import Testing

@testable import Telemetry

@Suite struct `A page of metrics` {
    private let requests = MetricFamily(
        "http_requests", .counter, labels: ["route", "class"], "Answers \"as\" counted.\nAll\\")
    private let wait = MetricFamily("wait_seconds", .histogram, in: .seconds, "Time waited.")
    private let size = MetricFamily("memory_bytes", .gauge, in: .bytes, "Memory held.")

    @Test func `says in the text format what Prometheus reads`() {
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

    @Test func `says in OpenMetrics what its specification asks for`() {
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
        var page = MetricsPage(.text)
        page.begin(family)
        page.sample(["a\"b\\c\nd é"], 1)
        #expect(
            String(decoding: page.octets, as: UTF8.self).hasSuffix(
                "name_info{name=\"a\\\"b\\\\c\\nd é\"} 1\n"))
    }

    @Test(arguments: [
        (0, "0"), (1, "0.000000001"), (1_500_000_000, "1.5"), (2_000_000_000, "2"),
        (-250_000_000, "-0.25"), (.max, "9223372036.854775807"), (.min, "-9223372036.854775808"),
    ]) func `shows nanoseconds exactly as seconds`(ticks: Int, text: String) {
        var octets: [UInt8] = []
        MetricUnit.seconds.append(ticks, to: &octets)
        #expect(String(decoding: octets, as: UTF8.self) == text)
    }

    private func page(_ format: MetricsFormat) -> String {
        let counters = CounterTable(
            requests, [LabelValues(["/a", "/b"]), LabelValues(["2xx", "5xx"])], shards: 2)
        counters.add(2, row: 0, shard: 0)
        counters.add(row: 0, shard: 1)
        counters.add(row: 8, shard: 1)
        let histogram = HistogramTable(wait, bounds: [5_000_000, 1_000_000_000])
        for value in [5_000_000, 1_000_000_000, 2_500_000_010] { histogram.observe(value) }
        var page = MetricsPage(format)
        counters.write(to: &page)
        histogram.write(to: &page)
        page.write(size, -4096)
        page.end()
        return String(decoding: page.octets, as: UTF8.self)
    }
}
