extension JSONValue {
    /// How many members an object or elements an array has; 0 for every other kind.
    public var count: Int {
        switch kind {
        case .object, .array: Int(node.count)
        default: 0
        }
    }

    /// The member of an object by its name; `nil` when it has none, and for every other kind.
    ///
    /// Names are compared byte by byte in UTF-8, so two ways to compose one letter are two names. The
    /// members are looked at in turn: ask a large object for its ``members`` instead.
    public subscript(_ name: String) -> JSONValue? {
        guard kind == .object else { return nil }
        var member = index + 1
        let end = Int(node.next)
        while member < end {
            if isName(storage.nodes[member], equalTo: name) {
                return JSONValue(storage: storage, index: member + 1)
            }
            member = Int(storage.nodes[member + 1].next)
        }
        return nil
    }

    /// The members of an object in the order of the text; empty for every other kind.
    public var members: JSONMembers { JSONMembers(of: self) }

    /// The elements of an array; empty for every other kind.
    public var elements: JSONElements { JSONElements(of: self) }

    private func isName(_ node: JSONNode, equalTo name: String) -> Bool {
        let text = storage.bytes[node.content]
        guard !node.hasEscapes else { return name.utf8.elementsEqual(JSONEscape.unescaped(text)) }
        return text.count == name.utf8.count && name.utf8.elementsEqual(text)
    }
}
