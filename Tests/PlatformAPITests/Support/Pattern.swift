/// Expected text with variables: `{C:uuid}` matches a UUID and stores it as `C`, `{uuid}` matches any, `{C}`
/// matches the stored value.
struct Pattern {
    enum Piece {
        case literal([UInt8])
        case placeholder(Kind, name: String?)
    }

    enum Kind: String {
        case uuid, time, number, any
    }

    let pieces: [Piece]

    /// Parses a pattern; a placeholder that is neither a kind nor a variable is an error in the test file.
    init(_ text: String, _ variables: [String: String]) throws {
        var pieces: [Piece] = []
        try text.forEachPlaceholder { literal, placeholder in
            pieces.append(.literal(Array(literal.utf8)))
            guard let placeholder else { return }
            let parts = placeholder.split(separator: ":").map(String.init)
            if let value = variables[parts[0]] {
                pieces.append(.literal(Array(value.utf8)))
            } else if parts.count == 2, let kind = Kind(rawValue: parts[1]) {
                pieces.append(.placeholder(kind, name: parts[0]))
            } else if parts.count == 1, let kind = Kind(rawValue: parts[0]) {
                pieces.append(.placeholder(kind, name: nil))
            } else {
                throw ExchangeFile.ParseError(text: "unknown placeholder {\(placeholder)}")
            }
        }
        self.pieces = pieces
    }

    /// The values of the placeholders, or `nil` when the text does not match.
    func match(_ text: String) -> [String: String]? {
        match(pieces[...], Array(text.utf8)[...], [:])
    }

    private func match(
        _ pieces: ArraySlice<Piece>, _ text: ArraySlice<UInt8>, _ found: [String: String]
    ) -> [String: String]? {
        switch pieces.first {
        case nil:
            return text.isEmpty ? found : nil
        case .literal(let literal):
            guard text.starts(with: literal) else { return nil }
            return match(pieces.dropFirst(), text.dropFirst(literal.count), found)
        case .placeholder(let kind, let name):
            for length in kind.lengths(in: text) {
                var found = found
                let value = String(decoding: text.prefix(length), as: UTF8.self)
                if let name {
                    if let earlier = found[name], earlier != value { continue }
                    found[name] = value
                }
                if let all = match(pieces.dropFirst(), text.dropFirst(length), found) { return all }
            }
            return nil
        }
    }
}

extension Pattern.Kind {
    /// The possible lengths of a value at the start of the text, shortest first.
    func lengths(in text: ArraySlice<UInt8>) -> [Int] {
        let shape: String
        switch self {
        case .uuid: shape = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx"
        case .time: shape = "0000-00-00T00:00:00.000Z"
        case .number: return Array((1...20).filter { Self.isNumber(text.prefix($0)) })
        case .any:
            // To the end of a JSON string: an escaped quote does not end it.
            var isEscaped = false
            let rest = text.prefix { byte in
                if isEscaped {
                    isEscaped = false
                    return true
                }
                isEscaped = byte == UInt8(ascii: "\\")
                return byte != UInt8(ascii: "\"")
            }
            return Array(0...rest.count)
        }
        let start = text.prefix(shape.utf8.count)
        let fits =
            start.count == shape.utf8.count
            && zip(start, shape.utf8).allSatisfy { byte, model in
                switch model {
                case UInt8(ascii: "x"):
                    (0x30...0x39).contains(byte) || (0x61...0x66).contains(byte)
                case UInt8(ascii: "0"): (0x30...0x39).contains(byte)
                default: byte == model
                }
            }
        return fits ? [shape.utf8.count] : []
    }

    private static func isNumber(_ text: ArraySlice<UInt8>) -> Bool {
        !text.isEmpty && text.allSatisfy { (0x30...0x39).contains($0) }
    }
}

extension String {
    /// Replaces placeholders by variables; other braces are kept.
    func filled(with variables: [String: String]) throws -> String {
        var filled = ""
        try forEachPlaceholder { literal, placeholder in
            filled += literal
            guard let placeholder else { return }
            guard let value = variables[placeholder] else {
                throw ExchangeFile.ParseError(text: "unknown variable {\(placeholder)}")
            }
            filled += value
        }
        return filled
    }

    /// Calls `body` with each literal and the placeholder after it; the last literal has none.
    ///
    /// A placeholder is a word in braces, possibly with `:kind`; no JSON object looks like that.
    fileprivate func forEachPlaceholder(_ body: (String, String?) throws -> Void) rethrows {
        var literal = ""
        var rest = self[...]
        while let brace = rest.firstIndex(of: "{") {
            literal += rest[..<brace]
            let inside = rest[rest.index(after: brace)...]
            let word = inside.prefix { character in
                character.isLetter || character.isNumber || character == "_" || character == ":"
            }
            if !word.isEmpty, inside[word.endIndex...].first == "}" {
                try body(literal, String(word))
                literal = ""
                rest = inside[inside.index(after: word.endIndex)...]
            } else {
                literal += "{"
                rest = inside
            }
        }
        try body(literal + rest, nil)
    }
}
