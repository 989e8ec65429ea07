/// A file name a client may be told to use (H126): one path component, no control character, at
/// most 255 octets.
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
