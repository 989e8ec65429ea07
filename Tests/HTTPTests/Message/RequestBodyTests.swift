import HTTP
import Testing

@Suite struct `Collecting a body` {
    @Test func `all pieces come together`() async throws {
        let body = Pieces([octets("ab"), octets("c"), octets("def")], length: nil)
        #expect(try await body.collect() == octets("abcdef"))
    }

    @Test func `a body that is known to be empty is not read`() async throws {
        #expect(try await Pieces([octets("never")], length: 0).collect().isEmpty)
    }

    @Test func `a break is thrown, whatever came before (H51)`() async {
        let body = Pieces([octets("ab")], length: 5, end: .interrupted)
        await #expect(throws: BodyError.interrupted) { try await body.collect() }
    }

    @Test func `an announced length reserves nothing like it (H59)`() async throws {
        #expect(try await Pieces([octets("ab")], length: .max).collect() == octets("ab"))
    }
}

/// A body that comes in these pieces.
private final class Pieces: RequestBody {
    private let source: Source
    let length: Int64?

    init(_ pieces: [[UInt8]], length: Int64?, end: BodyError? = nil) {
        source = Source(pieces, end)
        self.length = length
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        let piece = try await source.next().get()
        buffer.removeAll()
        _ = buffer.append(piece.span)
    }

    func interrupt() {}

    private actor Source {
        private var rest: [[UInt8]]
        private let end: BodyError?

        init(_ pieces: [[UInt8]], _ end: BodyError?) {
            rest = pieces
            self.end = end
        }

        func next() -> Result<[UInt8], BodyError> {
            if rest.isEmpty, let end { return .failure(end) }
            return .success(rest.isEmpty ? [] : rest.removeFirst())
        }
    }
}
