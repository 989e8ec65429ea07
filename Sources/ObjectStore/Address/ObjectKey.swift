/// The name of an object below the prefix of its store, such as `content/0190…`.
public struct ObjectKey: Sendable, Hashable, CustomStringConvertible {
    /// The name as it is.
    public let text: String

    /// Takes 1 to 512 octets of text without control characters; segments between slashes are neither
    /// empty nor `.` nor `..`, which somebody on the way might fold. `nil` for anything else.
    public init?(_ text: String) {
        guard (1...512).contains(text.utf8.count),
            text.unicodeScalars.allSatisfy({ $0.properties.generalCategory != .control }),
            text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
                .allSatisfy({ segment in
                    !segment.isEmpty && !segment.elementsEqual(".".utf8)
                        && !segment.elementsEqual("..".utf8)
                })
        else { return nil }
        self.text = text
    }

    /// The name as it is.
    public var description: String { text }

    /// Equal as octets: stores fold nothing.
    public static func == (left: ObjectKey, right: ObjectKey) -> Bool {
        left.text.utf8.elementsEqual(right.text.utf8)
    }

    /// By octets, as equality.
    public func hash(into hasher: inout Hasher) {
        for octet in text.utf8 { hasher.combine(octet) }
    }
}
