import HTTP
import Testing

@Suite struct `Collecting a body` {
    @Test func `all pieces are concatenated`() async throws {
        let body = Pieces([utf8Bytes("ab"), utf8Bytes("c"), utf8Bytes("def")], length: nil)
        #expect(try await body.collect() == utf8Bytes("abcdef"))
    }

    @Test func `a body of length 0 is not read`() async throws {
        #expect(try await Pieces([utf8Bytes("never")], length: 0).collect().isEmpty)
    }

    @Test func `an interruption is thrown, whatever came before (H51)`() async {
        let body = Pieces([utf8Bytes("ab")], length: 5, end: .interrupted)
        await #expect(throws: BodyError.interrupted) { try await body.collect() }
    }

    @Test func `an announced length reserves no memory (H59)`() async throws {
        #expect(try await Pieces([utf8Bytes("ab")], length: .max).collect() == utf8Bytes("ab"))
    }
}

/// A body that arrives in these pieces.
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

@Suite struct `A body buffer` {
    @Test func `appends what fits and returns how much`() {
        var buffer = BodyBuffer(capacity: 5)
        #expect(buffer.append("abc") == 3)
        #expect(buffer.append("def") == 2)
        #expect(buffer.append("ghi") == 0)
        #expect(buffer.bytes == utf8Bytes("abcde")[...])
        #expect(buffer.freeCapacity == 0)
    }

    @Test func `removing all bytes keeps the capacity`() {
        var buffer = BodyBuffer(capacity: 4)
        _ = buffer.append("abcd")
        buffer.removeAll()
        #expect(buffer.count == 0)
        #expect(buffer.freeCapacity == 4)
        #expect(buffer.bytes.isEmpty)
    }

    @Test func `filling writes after existing bytes`() {
        var buffer = BodyBuffer(capacity: 4)
        _ = buffer.append("a")
        buffer.fill { free in
            free.copyBytes(from: utf8Bytes("bc"))
            return 2
        }
        #expect(buffer.bytes == utf8Bytes("abc")[...])
    }

    @Test(arguments: [-1, -100, 0, 5, 100])
    func `an impossible count is clamped`(count: Int) {
        var buffer = BodyBuffer(capacity: 4)
        buffer.fill { _ in count }
        #expect((0...4).contains(buffer.count))
    }

    @Test func `the capacity is at least one byte`() {
        #expect(BodyBuffer(capacity: 0).capacity == 1)
        #expect(BodyBuffer(capacity: -5).capacity == 1)
    }
}

extension BodyBuffer {
    fileprivate mutating func append(_ text: String) -> Int {
        let added = Array(text.utf8)
        return append(added.span)
    }
}

/// A body that arrives in pieces of given sizes and may fail at its end.
actor ScriptedBody: RequestBody {
    nonisolated let length: Int64?
    private var rest: ArraySlice<UInt8>
    private var cuts: ArraySlice<Int>
    private let end: BodyError?
    /// How many bytes were returned.
    private(set) var handedOut = 0

    /// - Parameter cuts: Sizes of the pieces; the rest arrives in pieces of the buffer's size.
    init(_ bytes: [UInt8], cuts: [Int] = [], end: BodyError? = nil) {
        length = nil
        rest = bytes[...]
        self.cuts = cuts[...]
        self.end = end
    }

    func read(into buffer: inout BodyBuffer) async throws(BodyError) {
        buffer.removeAll()
        if rest.isEmpty, let end { throw end }
        let piece = rest.prefix(min(max(1, cuts.popFirst() ?? .max), buffer.capacity))
        _ = buffer.append(Array(piece).span)
        rest = rest.dropFirst(piece.count)
        handedOut += piece.count
    }

    nonisolated func interrupt() {}
}
