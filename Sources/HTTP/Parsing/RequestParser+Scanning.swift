// The grammar of a head (RFC 9112 §2–§5). Long parts are walked in runs, so that an octet in the
// middle of a value costs one look-up; every part stops at the octet that passes a limit.
extension RequestParser {
    /// Walks over the grammar; returns the length of the head once its last octet is there.
    mutating func scan(_ octets: Span<UInt8>) throws(Refusal) -> Int? {
        while cursor < octets.count {
            switch state {
            case .start: try takeStart(octets[cursor])
            case .emptyLine:
                guard octets[cursor] == .lf else { throw .bareCR }
                skipsEmptyLine = false
                state = .start
            case .method:
                let limit = mark + 24
                cursor = octets.end(of: .token, from: cursor, to: min(octets.count, limit))
                guard cursor < octets.count else { return nil }
                guard octets[cursor] == .sp else { throw method(endingIn: octets[cursor]) }
                methodRange = mark..<cursor
                mark = cursor + 1
                state = .target
            case .target:
                let limit = methodRange.lowerBound + limits.requestLine
                cursor = octets.end(of: .visible, from: cursor, to: min(octets.count, limit))
                guard cursor < octets.count else { return nil }
                guard cursor < limit else { throw .lineTooLong }
                guard octets[cursor] == .sp else { throw .targetOctet }
                targetRange = mark..<cursor
                versionStart = cursor + 1
                state = .version
            case .version:
                // A line is refused as soon as its limit is passed, wherever it may end (H21).
                let limit = min(versionStart + 8, methodRange.lowerBound + limits.requestLine)
                cursor = octets.end(of: .visible, from: cursor, to: min(octets.count, limit))
                guard cursor < octets.count else { return nil }
                guard octets[cursor] == .cr else { throw version(endingIn: octets[cursor]) }
                guard cursor - versionStart == 8 else { throw .version }
                state = .requestLineEnd
            case .requestLineEnd:
                guard octets[cursor] == .lf else { throw .bareCR }
                try checkVersion(octets)
                sectionStart = cursor + 1
                state = .lineStart
            case .lineStart: try takeLineStart(octets[cursor])
            case .name:
                let limit = lineLimit
                cursor = octets.end(of: .token, from: cursor, to: min(octets.count, limit))
                guard cursor < octets.count else { return nil }
                guard cursor < limit else { throw tooLarge }
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
                cursor = octets.endOfValue(from: cursor, to: min(octets.count, lineLimit))
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
        } else if OctetClass.token.contains(octet) {
            mark = cursor
            methodRange = cursor..<cursor
            state = .method
        } else {
            throw Refusal(.badRequest, "H9", "A request line starts with a method.")
        }
    }

    /// What is wrong with a method that this octet ends.
    private func method(endingIn octet: UInt8) -> Refusal {
        OctetClass.token.contains(octet)
            ? Refusal(.notImplemented, "H21", "No method is that long.")
            : Refusal(.badRequest, "H12", "The method holds a character that is no token.")
    }

    /// What is wrong with a version that this octet ends.
    private func version(endingIn octet: UInt8) -> Refusal {
        cursor - versionStart < 8 && OctetClass.visible.contains(octet) ? .lineTooLong : .version
    }

    /// `HTTP/` DIGIT `.` DIGIT, case-sensitive, major 1 (H13).
    ///
    /// Judged as soon as the line is complete: what follows an unknown version may be anything.
    private func checkVersion(_ octets: Span<UInt8>) throws(Refusal) {
        // Any type of eight octets will do; the first of them is the highest.
        let text = UInt64(
            bigEndian: unsafe octets.bytes.unsafeLoadUnaligned(
                fromByteOffset: versionStart, as: UInt64.self))
        let major = UInt8(truncatingIfNeeded: text >> 16)
        let minor = UInt8(truncatingIfNeeded: text)
        let digit: ClosedRange<UInt8> = 0x30...0x39
        guard
            // `HTTP/`, any octet, `.`, any octet.
            text & 0xFFFF_FFFF_FF00_FF00 == 0x4854_5450_2F00_2E00,
            digit.contains(major), digit.contains(minor)
        else { throw .version }
        guard major == UInt8(ascii: "1") else {
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
        guard OctetClass.token.contains(octet) else {
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
