/// How large a message head may be (H21, H55), and who it may name (H37).
public struct HeadLimits: Sendable {
    /// Bytes of the request line; 8,192.
    public var requestLine = 8192
    /// Bytes of one field line; 16,384.
    public var fieldLine = 16_384
    /// Bytes of the whole header section; 32,768.
    public var fieldSection = 32_768
    /// Number of field lines; 100.
    public var fields = 100
    /// Hosts that may be named, lower case, without port; empty allows any.
    public var allowedHosts: [String] = []

    /// The defaults of the specification.
    public init() {}
}

/// Reads request heads, byte by byte, from any split of the input (H3).
///
/// A pure state machine: it is shown the bytes of a head from their beginning, goes on where it
/// stopped, and never looks at a byte twice. A refusal is final: nothing more is read as a request
/// from that connection (H6).
public struct RequestParser: Sendable {
    /// What became of the bytes so far.
    public enum Outcome: Sendable {
        /// More bytes are needed.
        case incomplete
        /// A head; it took so many bytes, the next one is the first of the body.
        case head(RequestHead, count: Int)
        /// The head is malformed or too large: answer once, then close (H7).
        case refused(Refusal)
    }

    enum State: UInt8 {
        case start, emptyLine, method, target, version, requestLineEnd
        case lineStart, name, blanks, value, lineEnd, sectionEnd
    }

    let limits: HeadLimits
    var state = State.start
    /// The next byte to be looked at.
    var cursor = 0
    var skipsEmptyLine = true
    /// Where the part in progress begins: the method, the target, or a field line.
    var mark = 0
    var methodRange = 0..<0
    var targetRange = 0..<0
    var versionStart = 0
    var sectionStart = 0
    var line = Fields.Line(nameStart: 0, nameCount: 0, valueStart: 0, valueCount: 0)
    var lines: [Fields.Line] = []
    /// Where heads of ordinary size are copied to; empty while none was complete.
    private var storage: [UInt8] = []

    /// A parser at the beginning of a head.
    public init(limits: HeadLimits = HeadLimits()) {
        self.limits = limits
        lines.reserveCapacity(16)
    }

    /// Whether a byte of a head has been seen, the empty line before it included.
    public var hasBegun: Bool { cursor > 0 }

    /// Back to the beginning of a head, with the storage kept.
    public mutating func reset() {
        state = .start
        cursor = 0
        skipsEmptyLine = true
        lines.removeAll(keepingCapacity: true)
    }

    /// Goes on with a head.
    ///
    /// - Parameter bytes: All bytes from the beginning of the head, those seen before included.
    public mutating func parse(_ bytes: Span<UInt8>) -> Outcome {
        do throws(Refusal) {
            guard let count = try scan(bytes) else {
                // Who waits for the rest of a head holds no more than must be.
                storage = []
                return .incomplete
            }
            let reader = RequestHeadReader(
                method: methodRange, target: targetRange, versionStart: versionStart)
            let kept = keep(bytes, count)
            return .head(
                try reader.read(bytes, lines, copy: kept, allowedHosts: limits.allowedHosts),
                count: count)
        } catch {
            return .refused(error)
        }
    }

    /// The bytes of a head, for whoever reads its fields; of what stands behind them nothing is said.
    ///
    /// One storage serves all heads that fit in: whoever still holds the last one keeps it, because an
    /// array that is shared is copied before it is written to.
    private mutating func keep(_ bytes: Span<UInt8>, _ count: Int) -> [UInt8] {
        if count > 512 { return bytes.array(0..<count) }
        if storage.isEmpty { storage = [UInt8](repeating: 0, count: 512) }
        let head = bytes.extracting(..<count)
        unsafe storage.withUnsafeMutableBytes { storage in
            unsafe head.withUnsafeBytes { head in unsafe storage.copyMemory(from: head) }
        }
        return storage
    }
}

// The grammar of a head (RFC 9112 §2–§5). Long parts are walked in runs, so that a byte in the
// middle of a value costs one look-up; every part stops at the byte that passes a limit.
extension RequestParser {
    /// Walks over the grammar; returns the length of the head once its last byte is there.
    mutating func scan(_ bytes: Span<UInt8>) throws(Refusal) -> Int? {
        while cursor < bytes.count {
            switch state {
            case .start: try takeStart(bytes[cursor])
            case .emptyLine:
                guard bytes[cursor] == .lf else { throw .bareCR }
                skipsEmptyLine = false
                state = .start
            case .method:
                let limit = mark + 24
                cursor = bytes.end(of: .token, from: cursor, to: min(bytes.count, limit))
                guard cursor < bytes.count else { return nil }
                guard bytes[cursor] == .sp else { throw method(endingIn: bytes[cursor]) }
                methodRange = mark..<cursor
                mark = cursor + 1
                state = .target
            case .target:
                let limit = methodRange.lowerBound + limits.requestLine
                cursor = bytes.end(of: .visible, from: cursor, to: min(bytes.count, limit))
                guard cursor < bytes.count else { return nil }
                guard cursor < limit else { throw .lineTooLong }
                guard bytes[cursor] == .sp else { throw .targetByte }
                targetRange = mark..<cursor
                versionStart = cursor + 1
                state = .version
            case .version:
                // A line is refused as soon as its limit is passed, wherever it may end (H21).
                let limit = min(versionStart + 8, methodRange.lowerBound + limits.requestLine)
                cursor = bytes.end(of: .visible, from: cursor, to: min(bytes.count, limit))
                guard cursor < bytes.count else { return nil }
                guard bytes[cursor] == .cr else { throw version(endingIn: bytes[cursor]) }
                guard cursor - versionStart == 8 else { throw .version }
                state = .requestLineEnd
            case .requestLineEnd:
                guard bytes[cursor] == .lf else { throw .bareCR }
                try checkVersion(bytes)
                sectionStart = cursor + 1
                state = .lineStart
            case .lineStart: try takeLineStart(bytes[cursor])
            case .name:
                let limit = lineLimit
                cursor = bytes.end(of: .token, from: cursor, to: min(bytes.count, limit))
                guard cursor < bytes.count else { return nil }
                guard cursor < limit else { throw tooLarge }
                guard bytes[cursor] == UInt8(ascii: ":") else { throw .fieldName }
                line.nameStart = UInt32(mark)
                line.nameCount = UInt32(cursor - mark)
                state = .blanks
            case .blanks:
                let end = min(bytes.count, lineLimit)
                while cursor < end, bytes[cursor].isBlank { cursor += 1 }
                guard cursor < bytes.count else { return nil }
                line.valueStart = UInt32(cursor)
                state = .value
                continue
            case .value:
                cursor = bytes.endOfValue(from: cursor, to: min(bytes.count, lineLimit))
                guard cursor < bytes.count else { return nil }
                // The two bytes that end a line are not counted, so that a full line still fits.
                if bytes[cursor] == .cr {
                    guard cursor < sectionLimit else { throw tooLarge }
                    endValue(bytes)
                    state = .lineEnd
                } else {
                    throw cursor < lineLimit ? .fieldValue : tooLarge
                }
            case .lineEnd:
                guard bytes[cursor] == .lf else { throw .bareCR }
                guard cursor < sectionLimit else { throw tooLarge }
                lines.append(line)
                state = .lineStart
            case .sectionEnd:
                guard bytes[cursor] == .lf else { throw .bareCR }
                cursor += 1
                return cursor
            }
            cursor += 1
        }
        return nil
    }

    // MARK: The request line

    private mutating func takeStart(_ byte: UInt8) throws(Refusal) {
        if byte == .cr, skipsEmptyLine {
            state = .emptyLine
        } else if ByteClass.token.contains(byte) {
            mark = cursor
            methodRange = cursor..<cursor
            state = .method
        } else {
            throw Refusal(.badRequest, "H9", "A request line starts with a method.")
        }
    }

    /// What is wrong with a method that this byte ends.
    private func method(endingIn byte: UInt8) -> Refusal {
        ByteClass.token.contains(byte)
            ? Refusal(.notImplemented, "H21", "No method is that long.")
            : Refusal(.badRequest, "H12", "The method holds a character that is no token.")
    }

    /// What is wrong with a version that this byte ends.
    private func version(endingIn byte: UInt8) -> Refusal {
        cursor - versionStart < 8 && ByteClass.visible.contains(byte) ? .lineTooLong : .version
    }

    /// `HTTP/` DIGIT `.` DIGIT, case-sensitive, major 1 (H13).
    ///
    /// Judged as soon as the line is complete: what follows an unknown version may be anything.
    private func checkVersion(_ bytes: Span<UInt8>) throws(Refusal) {
        // Any type of eight bytes will do; the first of them is the highest.
        let text = UInt64(
            bigEndian: unsafe bytes.bytes.unsafeLoadUnaligned(
                fromByteOffset: versionStart, as: UInt64.self))
        let major = UInt8(truncatingIfNeeded: text >> 16)
        let minor = UInt8(truncatingIfNeeded: text)
        let digit: ClosedRange<UInt8> = 0x30...0x39
        guard
            // `HTTP/`, any byte, `.`, any byte.
            text & 0xFFFF_FFFF_FF00_FF00 == 0x4854_5450_2F00_2E00,
            digit.contains(major), digit.contains(minor)
        else { throw .version }
        guard major == UInt8(ascii: "1") else {
            throw Refusal(.versionNotSupported, "H13", "Only HTTP/1.1 is spoken here.")
        }
    }

    // MARK: Field lines

    /// The first byte behind the header section.
    private var sectionLimit: Int { sectionStart + limits.fieldSection }

    /// The first byte that a field line may not have, its end not counted (H55).
    private var lineLimit: Int { min(mark + limits.fieldLine, sectionLimit) }

    private var tooLarge: Refusal {
        cursor < sectionLimit
            ? Refusal(.fieldsTooLarge, "H55", "A header line is too long.")
            : Refusal(.fieldsTooLarge, "H55", "The header section is too large.")
    }

    private mutating func takeLineStart(_ byte: UInt8) throws(Refusal) {
        mark = cursor
        if byte == .cr {
            guard cursor <= sectionLimit else { throw tooLarge }
            state = .sectionEnd
            return
        }
        guard ByteClass.token.contains(byte) else {
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
    private mutating func endValue(_ bytes: Span<UInt8>) {
        var end = cursor
        while end > Int(line.valueStart), bytes[end - 1].isBlank { end -= 1 }
        line.valueCount = UInt32(end) - line.valueStart
    }
}

extension Refusal {
    fileprivate static let lineTooLong = Refusal(
        .targetTooLong, "H21", "The request line is too long.")
    fileprivate static let targetByte = Refusal(
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

    /// SP or HTAB; no other byte is white space here (H1).
    var isBlank: Bool { self == .sp || self == .htab }
}
