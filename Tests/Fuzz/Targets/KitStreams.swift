@testable import ParleyKit

/// Streams of Server-Sent Events, as a client reads them (K69).
enum KitStreams {
    static func check(_ input: [UInt8]) {
        let splits = Cuts.splits(of: input).map { cuts in parse(input, cuts) }
        invariant(
            "every split gives the same events", splits.allSatisfy { split in split == splits[0] })
        guard let events = splits[0] else { return }
        invariant(
            "no id or type has a line feed",
            events.allSatisfy { event in
                !event.type.utf8.contains(10) && event.id?.utf8.contains(10) != true
            })
        // An event that is written again is the same, unless its bytes were no UTF-8.
        for event in events where !event.data.contains(13) {
            var text = Array("event: \(event.type)\n".utf8)
            if let id = event.id { text += Array("id: \(id)\n".utf8) }
            for line in event.data.split(separator: 10, omittingEmptySubsequences: false) {
                text += Array("data: ".utf8) + line + [10]
            }
            invariant(
                "an event written again is the same",
                parse(text + [10], [text.count + 1]) == [event])
        }
    }

    private static func parse(_ input: [UInt8], _ cuts: [Int]) -> [ServerSentEvent]? {
        var parser = EventStreamParser()
        var events: [ServerSentEvent] = []
        var start = 0
        for cut in cuts {
            guard let parsed = try? parser.parse(Array(input[start..<cut])) else { return nil }
            events += parsed
            start = cut
        }
        return events
    }
}
