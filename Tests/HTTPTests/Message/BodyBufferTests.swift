import HTTP
import Testing

@Suite struct `A body buffer` {
    @Test func `it takes what fits and says how much that was`() {
        var buffer = BodyBuffer(capacity: 5)
        #expect(buffer.append("abc") == 3)
        #expect(buffer.append("def") == 2)
        #expect(buffer.append("ghi") == 0)
        #expect(buffer.octets == octets("abcde")[...])
        #expect(buffer.room == 0)
    }

    @Test func `forgetting keeps the room`() {
        var buffer = BodyBuffer(capacity: 4)
        _ = buffer.append("abcd")
        buffer.removeAll()
        #expect(buffer.count == 0)
        #expect(buffer.room == 4)
        #expect(buffer.octets.isEmpty)
    }

    @Test func `writing directly goes behind what is there`() {
        var buffer = BodyBuffer(capacity: 4)
        _ = buffer.append("a")
        buffer.fill { free in
            free.copyBytes(from: octets("bc"))
            return 2
        }
        #expect(buffer.octets == octets("abc")[...])
    }

    @Test(arguments: [-1, -100, 0, 5, 100])
    func `a count that cannot be is not believed`(count: Int) {
        var buffer = BodyBuffer(capacity: 4)
        buffer.fill { _ in count }
        #expect((0...4).contains(buffer.count))
    }

    @Test func `there is always room for one octet`() {
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
