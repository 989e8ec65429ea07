extension String {
    /// This text as error messages quote it, in backticks.
    ///
    /// A client's text may be a megabyte of control characters: at most 64 scalars are shown, and what
    /// is invisible or would end the quotation is written as `\u{…}`.
    var quoted: String {
        var quoted = "`"
        for scalar in unicodeScalars.prefix(64) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .unassigned,
                .surrogate:
                quoted += scalar.escaped(asASCII: true)
            default:
                quoted += scalar == "`" ? "\\u{60}" : String(scalar)
            }
        }
        return quoted + (unicodeScalars.dropFirst(64).isEmpty ? "`" : "…`")
    }
}

extension Int {
    /// Decimal digits in groups of three, such as `2,048`.
    var grouped: String {
        let digits = String(magnitude)
        var text = self < 0 ? "-" : ""
        for (index, digit) in digits.enumerated() {
            if index > 0, (digits.count - index) % 3 == 0 { text += "," }
            text.append(digit)
        }
        return text
    }
}
