extension JSONParser {
    /// Refuses an object that says one name twice, however the name is escaped.
    ///
    /// Readers differ in which of two members counts (RFC 8259 §4), and what one of them checked the
    /// other would not see. Names are equal when their characters are, byte by byte in UTF-8.
    mutating func requireDistinctNames(in object: Int) throws(JSONError) {
        let count = Int(nodes[object].count)
        guard count > 1 else { return }
        // Few names are compared each with each; for many that is quadratic, so they are hashed. The
        // standard library seeds its hashes anew in each process: collisions cannot be prepared.
        if count <= 8 { try comparePairs(in: object) } else { try hashNames(in: object) }
    }

    private func comparePairs(in object: Int) throws(JSONError) {
        let end = Int(nodes[object].next)
        var later = Int(nodes[object + 2].next)
        while later < end {
            var earlier = object + 1
            while earlier < later {
                guard !haveEqualNames(nodes[earlier], nodes[later]) else {
                    throw duplicate(nodes[later])
                }
                earlier = Int(nodes[earlier + 1].next)
            }
            later = Int(nodes[later + 1].next)
        }
    }

    private func haveEqualNames(_ one: JSONNode, _ other: JSONNode) -> Bool {
        if one.hasEscapes || other.hasEscapes { return name(one) == name(other) }
        return one.content.count == other.content.count
            && bytes[one.content] == bytes[other.content]
    }

    private func hashNames(in object: Int) throws(JSONError) {
        var seen: Set<ArraySlice<UInt8>> = []
        seen.reserveCapacity(Int(nodes[object].count))
        var member = object + 1
        while member < Int(nodes[object].next) {
            guard seen.insert(name(nodes[member])).inserted else {
                throw duplicate(nodes[member])
            }
            member = Int(nodes[member + 1].next)
        }
    }

    private func name(_ node: JSONNode) -> ArraySlice<UInt8> {
        let text = bytes[node.content]
        return node.hasEscapes ? JSONEscape.unescaped(text)[...] : text
    }

    private func duplicate(_ name: JSONNode) -> JSONError {
        JSONError(offset: Int(name.start), reason: .duplicateName)
    }
}
