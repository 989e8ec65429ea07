/// The URLs of a bucket and its objects (§10.4).
struct BucketAddress: Sendable {
    /// `https://` or `http://`.
    private let scheme: String
    /// The value of the header `Host`.
    let host: String
    /// The encoded path before a key.
    private let root: String
    /// The encoded path of the bucket itself.
    private let own: String
    /// The bucket's name, with which `x-amz-copy-source` begins.
    let bucket: String

    /// `nil` if the endpoint is invalid.
    init?(_ settings: ObjectStoreSettings) {
        guard let place = EndpointURL(settings.endpoint) else { return nil }
        scheme = place.isSecure ? "https://" : "http://"
        bucket = settings.bucket
        switch settings.style {
        case .path:
            host = place.host
            own = "\(place.path)/\(URIEncoding.component(settings.bucket))"
            root = own + "/"
        case .virtualHost:
            host = "\(settings.bucket).\(place.host)"
            own = "\(place.path)/"
            root = own
        }
    }

    /// The encoded path of a full key, or of the bucket for `nil`.
    func path(of key: String?) -> String { key.map { root + URIEncoding.path($0) } ?? own }

    /// The full URL of an encoded path and query.
    func url(path: String, query: String) -> String {
        scheme + host + path + (query.isEmpty ? "" : "?" + query)
    }
}

/// A parsed endpoint: `https://host:port/path`.
struct EndpointURL: Sendable {
    let isSecure: Bool
    /// The host and its port, unless that is the scheme's default: libcurl sends this as `Host`, so
    /// it is also what is signed.
    let host: String
    /// The encoded path without a trailing slash; empty for none.
    let path: String
    /// Whether the host is an IP address.
    let isAddress: Bool

    /// `nil` for anything but a scheme, a host in ASCII, and an optional port and path.
    init?(_ text: String) {
        let lowered = text.lowercased()
        guard let scheme = ["https://", "http://"].first(where: { lowered.hasPrefix($0) }) else {
            return nil
        }
        isSecure = scheme == "https://"
        let rest = text.dropFirst(scheme.count)
        let authority = rest.prefix { $0 != "/" }
        var path = rest[authority.endIndex...]
        while path.hasSuffix("/") { path = path.dropLast() }
        guard URIEncoding.path(String(path)) == path, !path.contains("//"),
            !path.split(separator: "/").contains(where: { $0 == "." || $0 == ".." })
        else { return nil }
        self.path = String(path)

        let isBracketed = authority.hasPrefix("[")
        let border = isBracketed ? authority.firstIndex(of: "]").map(authority.index(after:)) : nil
        let name = authority[..<(border ?? authority.firstIndex(of: ":") ?? authority.endIndex)]
        guard isBracketed ? border != nil && Self.isIPv6(name) : Self.isName(name) else {
            return nil
        }
        isAddress = isBracketed || name.utf8.last.map { (0x30...0x39).contains($0) } ?? false
        let port = authority[name.endIndex...]
        guard port.isEmpty else {
            let defaultPort = isSecure ? 443 : 80
            guard port.hasPrefix(":"),
                port.utf8.dropFirst().allSatisfy({ (0x30...0x39).contains($0) }),
                let number = Int(port.dropFirst()), (1...65_535).contains(number)
            else { return nil }
            host = name.lowercased() + (number == defaultPort ? "" : ":\(number)")
            return
        }
        host = name.lowercased()
    }

    private static func isName(_ text: Substring) -> Bool {
        (1...253).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
                    UInt8(ascii: "_"):
                    true
                default: false
                }
            }
    }

    private static func isIPv6(_ text: Substring) -> Bool {
        text.utf8.count > 4
            && text.dropFirst().dropLast().utf8.allSatisfy { byte in
                byte == UInt8(ascii: ":") || byte == UInt8(ascii: ".")
                    || Character(Unicode.Scalar(byte)).isHexDigit
            }
    }
}

/// Percent-encoding for signatures (§10.4): every byte except `A–Z a–z 0–9 - . _ ~` is escaped
/// once, in upper-case digits.
///
/// Any difference makes the store compute another signature.
enum URIEncoding {
    /// Encodes a name or value of a query.
    static func component(_ text: String) -> String { encoded(text, keepsSlashes: false) }

    /// Encodes a path, without its slashes.
    static func path(_ text: String) -> String { encoded(text, keepsSlashes: true) }

    /// Decodes a key that a store has encoded for `encoding-type=url`; `nil` for an invalid escape
    /// or invalid UTF-8.
    ///
    /// Stores write a space as `+`.
    static func decoded(_ text: String) -> String? {
        var bytes: [UInt8] = []
        var rest = text.utf8.makeIterator()
        while let byte = rest.next() {
            switch byte {
            case UInt8(ascii: "+"): bytes.append(0x20)
            case UInt8(ascii: "%"):
                guard let high = rest.next().flatMap(digit), let low = rest.next().flatMap(digit)
                else { return nil }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        return String(validating: bytes, as: UTF8.self)
    }

    private static func encoded(_ text: String, keepsSlashes: Bool) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(text.utf8.count)
        for byte in text.utf8 {
            if isPlain(byte) || keepsSlashes && byte == UInt8(ascii: "/") {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map { UInt8($0) }
    }
}
