import HTTP

/// Entity tags, dates and conditions with them (H100–H103, H109).
enum Conditions {
    static func check(_ input: [UInt8]) {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        if let tag = EntityTag(text) {
            invariant("a tag written again is the same", EntityTag(tag.text) == tag)
            invariant(
                "a tag matches itself",
                tag.matchesWeakly(tag) && tag.matchesStrongly(tag) != tag.isWeak)
        }
        let tag = EntityTag(opaque: "a")
        let now: Int64 = 784_111_777
        let preconditions = Preconditions(tag: tag, modified: now)
        for name in ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"] {
            let fields = Fields([(name, text)])
            invariant(
                "only reads get 304 (H99)",
                preconditions.evaluate(.put, fields, at: now) != .notModified)
            invariant(
                "GET and HEAD have the same result",
                preconditions.evaluate(.get, fields, at: now)
                    == preconditions.evaluate(.head, fields, at: now))
        }
        if preconditions.allowsRange(Fields([("If-Range", text)])) {
            invariant(
                "a range needs the tag or the date (H109)",
                EntityTag(text) == tag || HTTPDate.parse(text) == now)
        }
    }
}
