import HTTP

/// Entity tags and the conditions made of them (H100–H103, H109).
enum Conditions {
    static func check(_ input: [UInt8]) {
        guard let text = String(validating: input, as: UTF8.self) else { return }
        if let tag = EntityTag(text) {
            law("a tag written again is the same", EntityTag(tag.text) == tag)
            law("a tag is itself", tag.matchesWeakly(tag) && tag.matchesStrongly(tag) != tag.isWeak)
        }
        let tag = EntityTag(opaque: "a")
        let now: Int64 = 784_111_777
        let thing = Preconditions(tag: tag, modified: now)
        for name in ["If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since"] {
            let fields = Fields([(name, text)])
            law(
                "only a reader is told of no change (H99)",
                thing.evaluate(.put, fields, at: now) != .notModified)
            law(
                "GET and HEAD evaluate alike",
                thing.evaluate(.get, fields, at: now) == thing.evaluate(.head, fields, at: now))
        }
        if thing.allowsRange(Fields([("If-Range", text)])) {
            law(
                "a range needs the tag or the date (H109)",
                EntityTag(text) == tag || HTTPDate.parse(text) == now)
        }
    }
}
