/// The target of a request: path and query, as received and validated (RFC 9112 §3.2).
public struct RequestTarget: Sendable {
    /// Why a target with valid syntax cannot be routed (H58, H61, H62); the connection stays open.
    public enum Fault: Error, Equatable {
        /// A bad percent escape, a NUL, text that is not UTF-8, or a dot segment: 400.
        case malformed
        /// More than 64 segments, or one of more than 1,024 bytes: 414.
        case tooLong
    }

    /// The path as received, starting with `/`; `*` for `OPTIONS *`.
    public let path: String
    /// The query without its `?`, or `nil`.
    public let query: String?

    /// Makes a target of its origin form or `*`, which must consist of the characters of H15.
    public init(_ text: String) {
        let mark = text.utf8.firstIndex(of: UInt8(ascii: "?"))
        path = String(text[..<(mark ?? text.endIndex)])
        query = mark.map { mark in String(text[text.utf8.index(after: mark)...]) }
    }

    init(path: String, query: String?) {
        self.path = path
        self.query = query
    }

    /// The segments of the path, each percent-decoded exactly once (H60); `/` has none.
    ///
    /// A trailing slash adds an empty segment; the router decides what it means.
    public func segments() throws(Fault) -> [String] {
        let text = path.utf8
        let bytes = text.span
        var segments: [String] = []
        segments.reserveCapacity(8)
        // After the slash with which every path begins.
        var start = min(1, bytes.count)
        while start <= bytes.count, segments.count < 64 {
            let end =
                bytes.firstIndex(of: UInt8(ascii: "/"), in: start..<bytes.count) ?? bytes.count
            guard let segment = bytes.segment(start..<end) else { throw .malformed }
            guard segment.utf8.count <= 1024 else { throw .tooLong }
            segments.append(segment)
            start = end + 1
        }
        guard start > bytes.count else { throw .tooLong }
        return segments.count == 1 && segments[0].isEmpty ? [] : segments
    }

    /// The query's parameters, form-decoded (`+` is a space), in order.
    ///
    /// - Throws: ``Fault/malformed`` for a bad escape or more than 256 parameters (H57, H61).
    public func parameters() throws(Fault) -> [(name: String, value: String)] {
        guard let query else { return [] }
        var parameters: [(name: String, value: String)] = []
        for pair in query.utf8.split(separator: UInt8(ascii: "&")) {
            guard parameters.count < 256 else { throw .malformed }
            let sign = pair.firstIndex(of: UInt8(ascii: "=")) ?? pair.endIndex
            guard
                let name = String(percentDecoding: pair[..<sign], plusIsBlank: true),
                let value = String(percentDecoding: pair[sign...].dropFirst(), plusIsBlank: true)
            else { throw .malformed }
            parameters.append((name, value))
        }
        return parameters
    }
}

extension Span<UInt8> {
    /// A decoded segment of a path; `nil` when it cannot be decoded or is a dot segment (H61, H62).
    fileprivate func segment(_ range: Range<Int>) -> String? {
        let isUnencoded =
            end(of: .unescaped, from: range.lowerBound, to: range.upperBound) == range.upperBound
        guard let segment = isUnencoded ? text(range) : String(percentDecoding: array(range))
        else { return nil }
        let isDots = (1...2).contains(segment.utf8.count) && segment.utf8.allSatisfy { $0 == 0x2E }
        return isDots ? nil : segment
    }
}

extension String {
    /// Decodes percent escapes once; `nil` for an invalid escape, for bytes that are not UTF-8, and
    /// for a NUL unless it is allowed (for text whose control characters are removed afterwards).
    init?(
        percentDecoding bytes: some Collection<UInt8>, plusIsBlank: Bool = false,
        allowsNUL: Bool = false
    ) {
        var decoded: [UInt8] = []
        decoded.reserveCapacity(bytes.count)
        var rest = bytes.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "%"):
                guard
                    let high = rest.next()?.hexDigitValue, let low = rest.next()?.hexDigitValue
                else { return nil }
                decoded.append(high << 4 | low)
            case UInt8(ascii: "+") where plusIsBlank: decoded.append(0x20)
            default: decoded.append(byte)
            }
        }
        guard allowsNUL || !decoded.contains(0),
            let text = String(validating: decoded, as: UTF8.self)
        else { return nil }
        self = text
    }
}

extension UInt8 {
    /// The value of an ASCII hexadecimal digit of either case; `nil` for other bytes.
    var hexDigitValue: UInt8? {
        switch self {
        case 0x30...0x39: self - 0x30
        case 0x41...0x46: self - 0x37
        case 0x61...0x66: self - 0x57
        default: nil
        }
    }
}
