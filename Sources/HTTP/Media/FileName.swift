/// A file name that is safe to send to a client (H126): one path component without control
/// characters, at most 255 bytes.
public struct FileName: Sendable, Equatable {
    /// The sanitized name.
    public let text: String

    /// Sanitizes a name from a client (ruling 33): removes control characters, then takes the last
    /// component of a path, with `/` and `\` as separators. An empty result, `.` and `..` become
    /// `content`.
    ///
    /// Applied to every file name of an upload, whatever the protocol, and again at every download.
    public init(untrusted text: String) {
        let visible = text.unicodeScalars.filter { !FileName.isControl($0) }
        let last = visible.split(
            omittingEmptySubsequences: false, whereSeparator: { $0 == "/" || $0 == "\\" }
        ).last
        var name = String.UnicodeScalarView()
        var size = 0
        for scalar in last ?? visible[...] {
            size += UTF8.width(scalar)
            if size > 255 { break }
            name.append(scalar)
        }
        let cleaned = String(name)
        self.text = ["", ".", ".."].contains(cleaned) ? "content" : cleaned
    }

    /// Control characters (C0, DEL, C1), line and paragraph separators, and bidirectional controls,
    /// which can hide a file extension.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// The name as a path segment or `filename*` value: every byte but unreserved ones as `%XX`
    /// (RFC 8187).
    public var percentEncoded: String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"), UInt8(ascii: "~"):
                encoded.append(byte)
            default:
                encoded += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// The name as a quoted string: ASCII only, other characters as `_`, quotes and backslashes
    /// escaped.
    public var quoted: String {
        var quoted = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"", "\\": quoted += "\\\(scalar)"
            case " "..."~": quoted.unicodeScalars.append(scalar)
            default: quoted += "_"
            }
        }
        return quoted + "\""
    }

    /// The value of `Content-Disposition`, in both forms (RFC 6266, H126).
    public func disposition(isInline: Bool) -> String {
        let kind = isInline ? "inline" : "attachment"
        return "\(kind); filename=\(quoted); filename*=UTF-8''\(percentEncoded)"
    }
}

/// Reads the file name of a `Content-Disposition` (RFC 6266). It is not sanitized; see
/// ``FileName/init(untrusted:)``.
public enum ContentDisposition {
    /// The value of `filename*`, otherwise of `filename`; `nil` when neither is present and
    /// readable.
    public static func fileName(in value: String) -> String? {
        let parameters = parameters(of: value)
        if let text = parameters["filename*"], let name = extended(text) { return name }
        return parameters["filename"]
    }

    /// The parameters by name, with quotes and escapes decoded.
    private static func parameters(of value: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var (name, text) = ("", "")
        var (isValue, isQuoted, isEscaped) = (false, false, false)
        for scalar in value.unicodeScalars.map(Character.init) + [";"] {
            if isEscaped {
                // Before other characters a backslash separates folders: clients that send a whole
                // path do not escape it.
                if scalar != "\"" && scalar != "\\" { text.append("\\") }
                text.append(scalar)
                isEscaped = false
            } else if isQuoted && scalar == "\\" {
                isEscaped = true
            } else if scalar == "\"" && isValue {
                isQuoted.toggle()
            } else if isQuoted {
                text.append(scalar)
            } else if scalar == ";" {
                let key = name.trimmed.lowercased()
                if isValue && parameters[key] == nil { parameters[key] = String(text.trimmed) }
                (name, text, isValue) = ("", "", false)
            } else if scalar == "=" && !isValue {
                isValue = true
            } else if isValue {
                text.append(scalar)
            } else {
                name.append(scalar)
            }
        }
        return parameters
    }

    /// Decodes an extended value such as `UTF-8''a%20b` (RFC 8187).
    private static func extended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return String(percentDecoding: parts[2].utf8, allowsNUL: true)
    }
}

extension ResponseFields {
    /// Adds fields that prevent stored content from acting in a browser (H126).
    ///
    /// - Parameters:
    ///   - name: The name under which a browser saves it.
    ///   - isInline: Whether a browser may display it; only for types that cannot run scripts.
    public mutating func addStoredContent(_ name: FileName, isInline: Bool) {
        add("Content-Disposition", name.disposition(isInline: isInline))
        // No scripts, no subresources, an opaque origin, no referrer.
        add("Content-Security-Policy", "default-src 'none'; sandbox")
        add("Referrer-Policy", "no-referrer")
    }
}
