/// A file name a client may be told to use (H126): one path component, no control character, at
/// most 255 bytes.
public struct FileName: Sendable, Equatable {
    /// The name.
    public let text: String

    /// Cleans what a client said (ruling 33): control characters are removed, then the last component of a path is
    /// taken, with `/` and `\` as separators. An empty result, `.` and `..` become `content`.
    ///
    /// Every file name of an upload comes through here, whatever the protocol, and every one of a download again.
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

    /// Control characters (C0, DEL, C1), line and paragraph separators, and marks that turn the direction of writing
    /// and so hide an ending.
    private static func isControl(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x061C, 0x200E, 0x200F, 0x2028...0x202E, 0x2066...0x2069: true
        default: false
        }
    }

    /// As a path segment or `filename*` value: every byte but unreserved ones as `%XX` (RFC 8187).
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

    /// In a quoted string: ASCII only, others as `_`, quotes and backslashes escaped.
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

/// The file name in a `Content-Disposition` (RFC 6266), as a client says it: to be cleaned.
public enum ContentDisposition {
    /// `filename*` before `filename`; `nil` when there is neither, or none that can be read.
    public static func fileName(in value: String) -> String? {
        let parameters = parameters(of: value)
        if let text = parameters["filename*"], let name = extended(text) { return name }
        return parameters["filename"]
    }

    /// Name and value of each parameter, quotes and their escapes undone.
    private static func parameters(of value: String) -> [String: String] {
        var parameters: [String: String] = [:]
        var (name, text) = ("", "")
        var (isValue, isQuoted, isEscaped) = (false, false, false)
        for scalar in value.unicodeScalars.map(Character.init) + [";"] {
            if isEscaped {
                // Before anything else than a quote it is what stands between folders: clients that send
                // a whole path do not double it.
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

    /// `UTF-8''a%20b` (RFC 8187).
    private static func extended(_ text: String) -> String? {
        let parts = text.split(separator: "'", maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, parts[0].lowercased() == "utf-8" else { return nil }
        return String(percentDecoding: parts[2].utf8, allowsNUL: true)
    }
}

extension ResponseFields {
    /// Adds what keeps content that somebody stored from acting in a browser (H126).
    ///
    /// - Parameters:
    ///   - name: What it is saved as.
    ///   - isInline: Whether a browser may show it in place; only for types that run nothing.
    public mutating func addStoredContent(_ name: FileName, isInline: Bool) {
        add("Content-Disposition", name.disposition(isInline: isInline))
        // Runs nothing, loads nothing, belongs to no origin, tells nobody where it was.
        add("Content-Security-Policy", "default-src 'none'; sandbox")
        add("Referrer-Policy", "no-referrer")
    }
}
