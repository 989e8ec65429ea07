import Testing

@testable import Console

@Suite struct `The statistics of the console` {
    private static func counters(
        requests: Double = 0, send: [Int]? = nil, clients: Double? = nil
    ) -> StatisticsCounters {
        var counters = StatisticsCounters()
        counters.totals[.requests] = requests
        counters.gauges[.clients] = clients
        counters.send = send.map { counts in
            StatisticsHistogram(bounds: [1_000_000, 2_000_000, 10_000_000], counts: counts)
        }
        return counters
    }

    @Test func `show the growth of totals in each second, and gauges as they are`() {
        let sample = StatisticsSample(
            Self.counters(requests: 150, clients: 7), since: Self.counters(requests: 50),
            seconds: 10)
        #expect(sample[.requests] == 10)
        #expect(sample[.clients] == 7)
        #expect(sample[.streams] == nil)
        let reset = StatisticsSample(
            Self.counters(requests: 1), since: Self.counters(requests: 50), seconds: 0)
        #expect(reset[.requests] == 0)
    }

    @Test func `estimate latencies from the growth of the buckets`() {
        let sample = StatisticsSample(
            Self.counters(send: [110, 50, 50, 5]), since: Self.counters(send: [100, 0, 50, 5]),
            seconds: 10)
        // Ten are below 1 ms, fifty from 1 to 2 ms: the 30th of 60 is the 20th of the second bucket.
        #expect(abs((sample[.sendP50] ?? 0) - 0.0014) < 1e-9)
        #expect(abs((sample[.sendP99] ?? 0) - 0.001988) < 1e-9)
        #expect(sample[.readP50] == nil)
        let none = StatisticsSample(
            Self.counters(send: [1, 1, 1, 1]), since: Self.counters(send: [1, 1, 1, 1]), seconds: 1)
        #expect(none[.sendP50] == nil)
        let slow = StatisticsSample(
            Self.counters(send: [0, 0, 0, 9]), since: Self.counters(), seconds: 1)
        #expect(slow[.sendP95] == 0.01, "the last bucket has no upper bound")
    }

    @Test func `keep an hour, with gaps`() {
        var ring = StatisticsRing(.hour)
        func add(_ requests: Double, at now: Int64) {
            ring.add(
                StatisticsSample(
                    Self.counters(requests: requests), since: Self.counters(), seconds: 1), at: now)
        }
        add(1, at: 1_000_005)
        add(2, at: 1_010_009)
        add(3, at: 1_040_000)
        #expect(ring.start == 1_000_000)
        #expect(ring.samples.map { $0?[.requests] } == [1, 2, nil, nil, 3])
        for index in 0..<400 { add(Double(index), at: 2_000_000 + Int64(index) * 10_000) }
        #expect(ring.samples.count == 360)
        #expect(ring.samples.last??[.requests] == 399)
        #expect(ring.start == 2_000_000 + 40 * 10_000)
    }

    @Test(arguments: [0, 1, 1_000_000, 900_000_000_000_000, Int64.max / 2] as [Int64])
    func `begin again when the clock jumps`(now: Int64) {
        var ring = StatisticsRing(.day)
        let sample = StatisticsSample(Self.counters(), since: Self.counters(), seconds: 1)
        ring.add(sample, at: 500_000_000)
        ring.add(sample, at: now)
        #expect(ring.samples.count == 1)
        #expect(ring.start == now - now % 300_000)
    }
}
