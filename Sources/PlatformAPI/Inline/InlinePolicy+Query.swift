import Messaging

extension InlinePolicy {
    /// Most types one request may name.
    static let mostTypes = 32

    /// Reads `inline_max_size` and `inline_types` (X8); `nil` when neither is there.
    ///
    /// - Throws: `invalid` with the parameter's name.
    init?(_ query: Query) throws(Rejection) {
        let (size, types) = (query["inline_max_size"], query["inline_types"])
        guard size != nil || types != nil else { return nil }
        self.init(
            maxSize: try size.map(Self.size) ?? Int64(MessagePart.inlineLimit),
            types: try types.map(Self.types))
    }

    private static func size(_ text: String) throws(Rejection) -> Int64 {
        guard !text.isEmpty, text.utf8.allSatisfy({ (0x30...0x39).contains($0) }),
            let size = Int64(text), size <= sizeLimit
        else { throw .invalid("inline_max_size", .inlineSize) }
        return size
    }

    private static func types(_ text: String) throws(Rejection) -> [MediaRange] {
        let names = text.split(separator: ",", omittingEmptySubsequences: false)
        guard names.count <= mostTypes else {
            throw .invalid("inline_types", .inlineTypeCount, .init(amount: names.count))
        }
        var ranges: [MediaRange] = []
        for name in names {
            guard let range = MediaRange(name.drop { $0 == " " }) else {
                throw .invalid("inline_types", .inlineTypes, .init(text: String(name)))
            }
            ranges.append(range)
        }
        return ranges
    }
}
