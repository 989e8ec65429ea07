import JSON
import MessagingWire

extension APIError {
    /// 422 for a member that the description of the endpoint does not know, under `Prefer: handling=strict`.
    init(_ unknown: JSONSchema.UnknownMember) {
        let path = unknown.path.joined(separator: ".")
        let name = unknown.path.last ?? ""
        let text =
            if let near = name.nearest(of: unknown.known) {
                "\(path.quoted) is not known here; did you mean \(near.quoted)?"
            } else {
                "\(path.quoted) is not known here; known are \(unknown.known.map(\.quoted).joined(separator: ", "))."
            }
        self.init(.invalidProperty, text, data: .property(path))
    }
}

extension String {
    /// The name with the least edit distance, if it is at most a third of this name's length and 3.
    fileprivate func nearest(of names: [String]) -> String? {
        let own = Array(lowercased().utf8)
        guard own.count <= 64 else { return nil }
        let near = names.map { name in (name, Self.distance(own, Array(name.lowercased().utf8))) }
            .min { left, right in left.1 < right.1 }
        guard let near, near.1 <= Swift.min(3, Swift.max(1, own.count / 3)) else { return nil }
        return near.0
    }

    /// The Levenshtein distance: insertions, deletions and substitutions that make one of the other.
    private static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
        var row = Array(0...right.count)
        for (index, byte) in left.enumerated() {
            var diagonal = index
            row[0] = index + 1
            for column in 0..<right.count {
                let substituted = diagonal + (byte == right[column] ? 0 : 1)
                diagonal = row[column + 1]
                row[column + 1] = Swift.min(substituted, diagonal + 1, row[column] + 1)
            }
        }
        return row[right.count]
    }
}
