/// Limits of a request head (H21, H55) and the hosts it may name (H37).
public struct HeadLimits: Sendable {
    /// The most bytes of the request line.
    public var requestLine = 8192
    /// The most bytes of one field line.
    public var fieldLine = 16_384
    /// The most bytes of the header section.
    public var fieldSection = 32_768
    /// The most field lines.
    public var fields = 100
    /// Allowed hosts in lower case, without port; empty allows any.
    public var allowedHosts: [String] = []

    /// The default limits.
    public init() {}
}

/// An incremental parser of request heads that accepts input split at any byte (H3).
///
/// A state machine without I/O: it is passed the bytes of a head from the beginning, continues
/// where it stopped, and reads no byte twice. A refusal is final: nothing more may be parsed on
/// that connection (H6).
public struct RequestParser: Sendable {
    /// The result of parsing the bytes received so far.
    public enum Outcome: Sendable {
        /// More bytes are needed.
        case incomplete
        /// A head of `count` bytes; the body starts after it.
        case head(RequestHead, count: Int)
        /// The head is malformed or too large: answer once, then close (H7).
        case refused(Refusal)
    }

    private enum State: UInt8 {
        case start, emptyLine, method, target, version, requestLineEnd
        case lineStart, name, blanks, value, lineEnd, sectionEnd
    }

    private let limits: HeadLimits
    private var state = State.start
    /// The index of the next byte to read.
    private var cursor = 0
    private var skipsEmptyLine = true
    /// The start of the current part: the method, the target or a field line.
    private var mark = 0
    private var methodRange = 0..<0
    private var targetRange = 0..<0
    private var versionStart = 0
    private var sectionStart = 0
    private var line = Fields.Line(nameStart: 0, nameCount: 0, valueStart: 0, valueCount: 0)
    private var lines: [Fields.Line] = []
    /// Reused storage for heads of up to 512 bytes; empty before the first one.
    private var storage: [UInt8] = []

    /// Makes a parser at the start of a head.
    public init(limits: HeadLimits = HeadLimits()) {
        self.limits = limits
        lines.reserveCapacity(16)
    }

    /// Whether any byte of a head was received, including an empty line before it.
    public var hasBegun: Bool { cursor > 0 }

    /// Prepares for the next head and keeps the storage.
    public mutating func reset() {
        state = .start
        cursor = 0
        skipsEmptyLine = true
        lines.removeAll(keepingCapacity: true)
    }

    /// Continues parsing a head.
    ///
    /// - Parameter bytes: All bytes from the start of the head, including those parsed before.
    public mutating func parse(_ bytes: Span<UInt8>) -> Outcome {
        do throws(Refusal) {
            guard let count = try scan(bytes) else {
                // A connection that waits for the rest of a head must hold as little memory as
                // possible.
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

    /// A copy of the head's bytes for its fields; bytes after `count` are undefined.
    ///
    /// All heads of up to 512 bytes share one storage. A holder of the previous head keeps it,
    /// because a shared array is copied before it is written.
    private mutating func keep(_ bytes: Span<UInt8>, _ count: Int) -> [UInt8] {
        if count > 512 { return bytes.array(0..<count) }
        if storage.isEmpty { storage = [UInt8](repeating: 0, count: 512) }
        let head = bytes.extracting(..<count)
        // The storage has 512 bytes, the head has no more, and both pointers are used only inside this call.
        unsafe storage.withUnsafeMutableBytes { storage in
            unsafe head.withUnsafeBytes { head in unsafe storage.copyMemory(from: head) }
        }
        return storage
    }
}

// The grammar of a head (RFC 9112 §2–§5). Long parts are scanned in runs, so that a byte inside a
// value costs one lookup; every part stops at the byte that exceeds a limit.
extension RequestParser {
    /// Scans the grammar and returns the length of the head once it is complete.
    private mutating func scan(_ bytes: Span<UInt8>) throws(Refusal) -> Int? {
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
                // A line is refused as soon as it exceeds its limit, wherever it would end (H21).
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
                // CR LF is not counted, so that a line of the full length is accepted.
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
            throw Refusal(.badRequest, "H9", "A request line must start with a method.")
        }
    }

    /// The error of a method that ends at this byte.
    private func method(endingIn byte: UInt8) -> Refusal {
        ByteClass.token.contains(byte)
            ? Refusal(.notImplemented, "H21", "The method is too long.")
            : Refusal(.badRequest, "H12", "The method contains an invalid character.")
    }

    /// The error of a version that ends at this byte.
    private func version(endingIn byte: UInt8) -> Refusal {
        cursor - versionStart < 8 && ByteClass.visible.contains(byte) ? .lineTooLong : .version
    }

    /// Requires `HTTP/` DIGIT `.` DIGIT, case-sensitive, with major version 1 (H13).
    ///
    /// Checked as soon as the line is complete, because what follows an unknown version may be
    /// anything.
    private func checkVersion(_ bytes: Span<UInt8>) throws(Refusal) {
        // The version is eight bytes, read as one number with the first byte highest.
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
            throw Refusal(.versionNotSupported, "H13", "Only HTTP/1.1 is supported.")
        }
    }

    // MARK: Field lines

    /// The index after the longest header section.
    private var sectionLimit: Int { sectionStart + limits.fieldSection }

    /// The index after the longest field line, without its line end (H55).
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
                .badRequest, "H22", "A header line must start with a field name, not with a blank.")
        }
        guard lines.count < limits.fields else {
            throw Refusal(.fieldsTooLarge, "H55", "There are too many header fields.")
        }
        guard cursor < sectionLimit else { throw tooLarge }
        state = .name
    }

    /// Ends a value before its trailing blanks (H25); leading blanks were skipped before.
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
        .badRequest, "H15", "The request target contains a forbidden character.")
    fileprivate static let version = Refusal(
        .badRequest, "H13", "The request line does not end with a version such as HTTP/1.1.")
    fileprivate static let bareCR = Refusal(
        .badRequest, "H8", "Lines must end in CR LF.")
    fileprivate static let fieldName = Refusal(
        .badRequest, "H22",
        "A field name must consist of token characters, directly followed by a colon.")
    fileprivate static let fieldValue = Refusal(
        .badRequest, "H25", "A field value contains a control character.")
}

extension UInt8 {
    static let htab: UInt8 = 0x09
    static let lf: UInt8 = 0x0A
    static let cr: UInt8 = 0x0D
    static let sp: UInt8 = 0x20

    /// SP or HTAB; no other byte is white space (H1).
    var isBlank: Bool { self == .sp || self == .htab }
}
