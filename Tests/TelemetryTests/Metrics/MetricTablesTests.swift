import Dispatch
import Testing

@testable import Telemetry

@Suite struct `Tables of metrics` {
    private let labels = LabelValues(["/", "/apps/{app}", "/apps/{ape}", "/health/live", ""])

    @Test func `H212 a value that was not declared is "other"`() {
        #expect(labels.all == ["/", "/apps/{app}", "/apps/{ape}", "/health/live", "", "other"])
        for (place, value) in labels.all.enumerated() {
            #expect(labels.place(of: String(decoding: Array(value.utf8), as: UTF8.self)) == place)
        }
        for value in ["/apps/7b2e4c1a", "/apps/{apq}", "x", String(repeating: "x", count: 1000)] {
            #expect(labels.place(of: value) == 5)
        }
    }

    @Test func `H212 a table has as many rows as its labels have combinations, for good`() {
        let rows = LabelRows([LabelValues(["a", "b"]), LabelValues(["c"])])
        #expect(
            (0..<rows.count).map(rows.values) == [
                ["a", "c"], ["a", "other"], ["b", "c"], ["b", "other"], ["other", "c"],
                ["other", "other"],
            ])
    }

    @Test func `additions from several threads are all there`() {
        let family = MetricFamily("things", .counter, labels: ["kind"], "Things.")
        let kinds = LabelValues((0..<100).map { number in "kind \(number)" })
        let table = CounterTable(family, [kinds], shards: 3)
        DispatchQueue.concurrentPerform(iterations: 6) { thread in
            for step in 0..<10_100 { table.add(row: step % 101, shard: thread % 3) }
        }
        var page = MetricsPage(.text)
        table.write(to: &page)
        let lines = String(decoding: page.octets, as: UTF8.self).split(separator: "\n").dropFirst(2)
        #expect(lines.count == 101)
        #expect(lines.allSatisfy { line in line.hasSuffix(" 600") })
    }

    @Test func `an empty counter without labels is zero, one with labels is not there`() {
        var page = MetricsPage(.text)
        CounterTable(MetricFamily("a", .counter, "A.")).write(to: &page)
        CounterTable(
            MetricFamily("b", .counter, labels: ["kind"], "B."), [LabelValues(["x"])]
        ).write(to: &page)
        let text = String(decoding: page.octets, as: UTF8.self)
        #expect(text.contains("\na_total 0\n"))
        #expect(!text.contains("b_total{"))
    }

    @Test(arguments: [
        (-1, [1, 1, 1]), (10, [1, 1, 1]), (11, [0, 1, 1]), (20, [0, 1, 1]), (21, [0, 0, 1]),
    ]) func `a bucket takes values up to its bound`(value: Int, expected: [Int]) {
        let table = HistogramTable(
            MetricFamily("size_bytes", .histogram, in: .bytes, "Sizes."), bounds: [10, 20])
        table.observe(value)
        var page = MetricsPage(.text)
        table.write(to: &page)
        let counts = String(decoding: page.octets, as: UTF8.self).split(separator: "\n")
            .filter { line in line.hasPrefix("size_bytes_bucket") }
            .compactMap { line in line.split(separator: " ").last.flatMap { Int($0) } }
        #expect(counts == expected)
    }
}
