// The grammar of a head (RFC 9112 §2–§5). Long parts are walked in runs, so that an octet in the
// middle of a value costs one look-up; every part stops at the octet that passes a limit.
extension RequestParser {
    /// Walks over the grammar; returns the length of the head once its last octet is there.
    mutating func scan(_ octets: Span<UInt8>) throws(Refusal) -> Int? {
        let classes = OctetClass.table
        while cursor < octets.count {
            switch state {
            case .start: try takeStart(octets[cursor])
            case .emptyLine:
                guard octets[cursor] == .lf else { throw .bareCR }
                skipsEmptyLine = false
                state = .start
            case .method: try takeMethod(octets[cursor])
            case .target:
                let limit = methodRange.lowerBound + limits.requestLine
                let end = min(octets.count, limit)
                while cursor < end, (0x21...0x7E).contains(octets[cursor]) { cursor += 1 }
                guard cursor < octets.count else { return nil }
                guard cursor < limit else { throw .lineTooLong }
                guard octets[cursor] == .sp else { throw .targetOctet }
                targetRange = mark..<cursor
                versionStart = cursor + 1
                state = .version
            case .version: try takeVersion(octets[cursor])
            case .requestLineEnd:
                guard octets[cursor] == .lf else { throw .bareCR }
                sectionStart = cursor + 1
                state = .lineStart
                try checkVersion(octets)
            case .lineStart: try takeLineStart(octets[cursor])
            case .name:
                let end = min(octets.count, lineLimit)
                while cursor < end, classes[Int(octets[cursor])].contains(.token) { cursor += 1 }
                guard cursor < octets.count else { return nil }
                guard cursor < lineLimit else { throw tooLarge }
                guard octets[cursor] == UInt8(ascii: ":") else { throw .fieldName }
                line.nameStart = UInt32(mark)
                line.nameCount = UInt32(cursor - mark)
                state = .blanks
            case .blanks:
                let end = min(octets.count, lineLimit)
                while cursor < end, octets[cursor].isBlank { cursor += 1 }
                guard cursor < octets.count else { return nil }
                line.valueStart = UInt32(cursor)
                state = .value
                continue
            case .value:
                let end = min(octets.count, lineLimit)
                while cursor < end, classes[Int(octets[cursor])].contains(.value) { cursor += 1 }
                guard cursor < octets.count else { return nil }
                // The two octets that end a line are not counted, so that a full line still fits.
                if octets[cursor] == .cr {
                    guard cursor < sectionLimit else { throw tooLarge }
                    endValue(octets)
                    state = .lineEnd
                } else {
                    throw cursor < lineLimit ? .fieldValue : tooLarge
                }
            case .lineEnd:
                guard octets[cursor] == .lf else { throw .bareCR }
                guard cursor < sectionLimit else { throw tooLarge }
                lines.append(line)
                state = .lineStart
            case .sectionEnd:
                guard octets[cursor] == .lf else { throw .bareCR }
                cursor += 1
                return cursor
            }
            cursor += 1
        }
        return nil
    }

    // MARK: The request line

    private mutating func takeStart(_ octet: UInt8) throws(Refusal) {
        if octet == .cr, skipsEmptyLine {
            state = .emptyLine
        } else if OctetClass.table[Int(octet)].contains(.token) {
            mark = cursor
            methodRange = cursor..<cursor
            state = .method
        } else {
            throw Refusal(.badRequest, "H9", "A request line starts with a method.")
        }
    }

    private mutating func takeMethod(_ octet: UInt8) throws(Refusal) {
        if octet == .sp {
            methodRange = mark..<cursor
            mark = cursor + 1
            state = .target
        } else if !OctetClass.table[Int(octet)].contains(.token) {
            throw Refusal(.badRequest, "H12", "The method holds a character that is no token.")
        } else if cursor - mark >= 24 {
            throw Refusal(.notImplemented, "H21", "No method is that long.")
        }
    }

    private mutating func takeVersion(_ octet: UInt8) throws(Refusal) {
        if octet == .cr {
            guard cursor - versionStart == 8 else { throw .version }
            state = .requestLineEnd
        } else if cursor - versionStart >= 8 || !(0x21...0x7E).contains(octet) {
            throw .version
        } else if cursor - methodRange.lowerBound >= limits.requestLine {
            // As soon as the limit is passed, wherever the line may end (H21).
            throw .lineTooLong
        }
    }

    /// `HTTP/` DIGIT `.` DIGIT, case-sensitive, major 1 (H13).
    ///
    /// Judged as soon as the line is complete: what follows an unknown version may be anything.
    private func checkVersion(_ octets: Span<UInt8>) throws(Refusal) {
        let start = versionStart
        let digit: ClosedRange<UInt8> = 0x30...0x39
        guard
            octets[start] == UInt8(ascii: "H"), octets[start + 1] == UInt8(ascii: "T"),
            octets[start + 2] == UInt8(ascii: "T"), octets[start + 3] == UInt8(ascii: "P"),
            octets[start + 4] == UInt8(ascii: "/"), digit.contains(octets[start + 5]),
            octets[start + 6] == UInt8(ascii: "."), digit.contains(octets[start + 7])
        else { throw .version }
        guard octets[start + 5] == UInt8(ascii: "1") else {
            throw Refusal(.versionNotSupported, "H13", "Only HTTP/1.1 is spoken here.")
        }
    }

    // MARK: Field lines

    /// The first octet behind the header section.
    private var sectionLimit: Int { sectionStart + limits.fieldSection }

    /// The first octet that a field line may not have, its end not counted (H55).
    private var lineLimit: Int { min(mark + limits.fieldLine, sectionLimit) }

    private var tooLarge: Refusal {
        cursor < sectionLimit
            ? Refusal(.fieldsTooLarge, "H55", "A header line is too long.")
            : Refusal(.fieldsTooLarge, "H55", "The header section is too large.")
    }

    private mutating func takeLineStart(_ octet: UInt8) throws(Refusal) {
        mark = cursor
        if octet == .cr {
            guard cursor <= sectionLimit else { throw tooLarge }
            state = .sectionEnd
            return
        }
        guard OctetClass.table[Int(octet)].contains(.token) else {
            throw Refusal(
                .badRequest, "H22", "A header line starts with a field name, never with a blank.")
        }
        guard lines.count < limits.fields else {
            throw Refusal(.fieldsTooLarge, "H55", "There are too many header fields.")
        }
        guard cursor < sectionLimit else { throw tooLarge }
        state = .name
    }

    /// Takes the blanks off the end (H25); a value never begins with one.
    private mutating func endValue(_ octets: Span<UInt8>) {
        var end = cursor
        while end > Int(line.valueStart), octets[end - 1].isBlank { end -= 1 }
        line.valueCount = UInt32(end) - line.valueStart
    }
}

extension Refusal {
    fileprivate static let lineTooLong = Refusal(
        .targetTooLong, "H21", "The request line is too long.")
    fileprivate static let targetOctet = Refusal(
        .badRequest, "H15", "The request target holds a forbidden character.")
    fileprivate static let version = Refusal(
        .badRequest, "H13", "The request line does not end in a version such as HTTP/1.1.")
    fileprivate static let bareCR = Refusal(
        .badRequest, "H8", "A line ends in CR LF, nothing else.")
    fileprivate static let fieldName = Refusal(
        .badRequest, "H22",
        "A field name holds only token characters and stands right before its colon.")
    fileprivate static let fieldValue = Refusal(
        .badRequest, "H25", "A field value holds a control character.")
}

extension UInt8 {
    static let htab: UInt8 = 0x09
    static let lf: UInt8 = 0x0A
    static let cr: UInt8 = 0x0D
    static let sp: UInt8 = 0x20

    /// SP or HTAB; no other octet is white space here (H1).
    var isBlank: Bool { self == .sp || self == .htab }
}
