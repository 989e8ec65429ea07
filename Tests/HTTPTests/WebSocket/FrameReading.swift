import Testing

@testable import HTTP

/// Everything a decoder said about some octets.
struct FrameReading: Equatable {
    var events: [FrameDecoder.Event] = []
    var fault: WebSocketFault?

    init(_ octets: [UInt8], cuts: [Int]? = nil, _ limits: FrameLimits = FrameLimits()) {
        var decoder = FrameDecoder(limits)
        var start = 0
        for cut in cuts ?? [octets.count] {
            let piece = Array(octets[start..<cut])
            start = cut
            var index = 0
            do throws(WebSocketFault) {
                while let event = try decoder.next(piece.span, at: &index) { events.append(event) }
            } catch {
                fault = error
                return
            }
        }
    }
}

/// Wherever the input is cut, and even octet by octet, the decoder says the same.
func expectSameReadingForEverySplit(
    _ octets: [UInt8], _ limits: FrameLimits = FrameLimits(),
    sourceLocation: SourceLocation = #_sourceLocation
) {
    let whole = FrameReading(octets, limits)
    let differing = (0...octets.count).filter { cut in
        FrameReading(octets, cuts: [cut, octets.count], limits) != whole
    }
    #expect(differing.isEmpty, sourceLocation: sourceLocation)
    #expect(
        FrameReading(octets, cuts: Array(0...octets.count), limits) == whole,
        sourceLocation: sourceLocation)
}
