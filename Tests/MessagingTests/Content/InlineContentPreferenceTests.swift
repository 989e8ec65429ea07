import Messaging
import Testing

@Suite struct `Inlined contents` {
    private func message(_ parts: [(Content.ID?, String, Int64)]) -> Message {
        Message(
            id: .sample(1), conversation: .sample(2), position: Position(1),
            sender: .named("Billing"), sentAt: Timestamp(milliseconds: 0),
            parts: parts.enumerated().map { index, part in
                MessagePart(
                    id: .sample(UInt128(index + 1)), index: index, mimeType: part.1,
                    body: part.0.map { id in .content(id, size: part.2) } ?? .inline([1]))
            })
    }

    @Test(
        arguments: [
            (InlineContentPreference(), [1, 2]), (InlineContentPreference(maxSize: 0), [1]),
            (InlineContentPreference(maxSize: InlineContentPreference.sizeLimit), [1, 2, 3, 4]),
            (InlineContentPreference(maxSize: 4096, types: [MediaRange("image/*")!]), [2]),
            (
                InlineContentPreference(
                    maxSize: 4096, types: [MediaRange("text/x")!, MediaRange("image/jpeg")!]), [3]
            ),
            (InlineContentPreference(types: []), []),
        ] as [(InlineContentPreference, [UInt128])])
    func `are complete contents of the requested size and type (X8)`(
        policy: InlineContentPreference, chosen: [UInt128]
    ) {
        let message = message([
            (.sample(1), "a/b", 0), (nil, "text/x", 1), (.sample(2), "IMAGE/png; a=b", 2048),
            (.sample(3), "Text/X ;q", 2049), (.sample(4), "image/png", 1 << 20),
            (.sample(5), "image/png", 1 << 20 + 1),
        ])
        #expect(policy.contents(of: [message]) == chosen.map(Content.ID.sample))
    }

    @Test
    func
        `are eight MiB at most, and a content that does not fit leaves space for smaller ones (X8)`()
    {
        let mebibyte = InlineContentPreference.sizeLimit
        let parts = (1...7).map { number in (Content.ID.sample(number), "a/b", mebibyte) }
        let message = message(
            parts + [
                (.sample(8), "a/b", mebibyte - 1), (.sample(9), "a/b", 2), (.sample(10), "a/b", 1),
                (.sample(11), "a/b", 1), (.sample(12), "a/b", 0),
            ])
        let chosen = InlineContentPreference(maxSize: mebibyte).contents(of: [message])
        #expect(chosen == ([1, 2, 3, 4, 5, 6, 7, 8, 10, 12] as [UInt128]).map(Content.ID.sample))
    }

    @Test func `count for each part that shows them (X8)`() {
        let mebibyte = InlineContentPreference.sizeLimit
        let five = message(Array(repeating: (.sample(1), "a/b", mebibyte), count: 5))
        let four = message(Array(repeating: (.sample(2), "a/b", mebibyte), count: 4))
        let three = message(Array(repeating: (.sample(3), "a/b", mebibyte), count: 3))
        #expect(
            InlineContentPreference(maxSize: mebibyte).contents(of: [five, four, three])
                == [.sample(1), .sample(3)])
    }
}

@Suite struct `A media range` {
    @Test(arguments: [
        ("image/png", "image/png", true), ("image/png", "IMAGE/PNG", true),
        ("Image/*", "image/svg+xml", true), ("*/*", "x/y", true), ("image/*", "imagex/png", false),
        ("image/png", "image/pngx", false), ("image/png", "image/png;a=b", true),
        ("image/png", "image/png ; a", true), ("a/b", "a/b/c", false), ("image/png", "png", false),
    ]) func `matches types of any case and with any parameters (R21)`(
        range: String, type: String, holds: Bool
    ) {
        #expect(MediaRange(range)?.contains(type) == holds)
    }

    @Test(arguments: [
        "", "/", "a/", "/b", "a", "*/b", "a/b/c", "a/b;c=d", "a b/c", " a/b", "a/b ", "ä/b", "a/\0",
        "i*/x", "a/b*",
    ]) func `is rejected in any other form`(text: String) {
        #expect(MediaRange(text) == nil)
    }
}
