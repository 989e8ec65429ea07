import HTTP

/// Dates in three formats (H103).
enum Dates {
    static func check(_ input: [UInt8]) {
        guard let text = String(validating: input, as: UTF8.self),
            let seconds = HTTPDate.parse(text)
        else { return }
        // A leap second at the end of the year 9999 would be in the year 10000.
        guard seconds < 253_402_300_800 else { return }
        invariant(
            "a date written again is the same", HTTPDate.parse(HTTPDate.format(seconds)) == seconds)
    }
}
