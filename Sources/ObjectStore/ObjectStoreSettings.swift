import SystemSupport

/// The address of an object store and how to access it.
public struct ObjectStoreSettings: Sendable {
    /// `https://s3.eu-central-1.amazonaws.com`, `http://127.0.0.1:9000`; a path is allowed.
    public var endpoint: String
    /// The region in signatures; stores without regions accept `us-east-1`.
    public var region: String
    /// The bucket, which must exist.
    public var bucket: String
    /// The prefix of every key, such as `parley/`; empty for none.
    public var prefix: String
    /// Where the bucket's name is in URLs.
    public var style: AddressStyle
    /// The credentials that sign requests.
    public var credentials: Credentials
    /// A PEM file of CA certificates; `nil` for the system's.
    public var authorities: String?
    /// Whether bodies are sent without their SHA-256, for speed; with TLS only (§10.4).
    public var leavesPayloadUnsigned: Bool
    /// Whether parts of multipart uploads are sent with a CRC-32C; not every store supports it
    /// (§10.4).
    ///
    /// Do not disable it while such uploads are open: the store requires the checksums.
    public var sendsPartChecksums: Bool
    /// The most attempts of a request.
    public var attempts: Int

    /// The longest first delay before a retry, in milliseconds; it doubles with each retry, up to
    /// ``longestWait``.
    public var firstWait: Int64
    /// The longest delay in milliseconds.
    public var longestWait: Int64

    /// Creates settings without validating them; see ``invalidSettings()``.
    public init(
        endpoint: String, region: String = "us-east-1", bucket: String, prefix: String = "",
        style: AddressStyle = .path, credentials: Credentials, authorities: String? = nil,
        leavesPayloadUnsigned: Bool = false, sendsPartChecksums: Bool = false, attempts: Int = 6,
        firstWait: Int64 = 200, longestWait: Int64 = 10_000
    ) {
        self.endpoint = endpoint
        self.region = region
        self.bucket = bucket
        self.prefix = prefix
        self.style = style
        self.credentials = credentials
        self.authorities = authorities
        self.leavesPayloadUnsigned = leavesPayloadUnsigned
        self.sendsPartChecksums = sendsPartChecksums
        self.attempts = attempts
        self.firstWait = firstWait
        self.longestWait = longestWait
    }
}

/// Where a bucket's name is in URLs.
public enum AddressStyle: String, Sendable, CaseIterable {
    /// `https://host/bucket/key`.
    case path
    /// `https://bucket.host/key`.
    case virtualHost = "virtual-host"
}

/// An invalid setting and the rule it breaks.
public struct InvalidSetting: Sendable, Equatable {
    /// The setting's name in ``ObjectStoreSettings``.
    public let setting: String
    /// The rule, as the end of a sentence that begins with the name.
    public let rule: String
}

extension ObjectStoreSettings {
    /// All invalid settings, as far as they can be found without a request.
    public func invalidSettings() -> [InvalidSetting] {
        var invalidSettings: [InvalidSetting] = []
        func demand(_ isTrue: Bool, _ setting: String, _ rule: String) {
            if !isTrue { invalidSettings.append(InvalidSetting(setting: setting, rule: rule)) }
        }
        let place = EndpointURL(endpoint)
        demand(
            place != nil, "endpoint",
            "must be http:// or https://, a host and perhaps a port and a path, and nothing more")
        demand(
            Self.isName(region, atMost: 64), "region",
            "must be 1 to 64 letters, digits, dots, hyphens and underscores")
        switch style {
        case .path:
            demand(
                Self.isName(bucket, atMost: 255) && bucket.utf8.count >= 3, "bucket",
                "must be 3 to 255 letters, digits, dots, hyphens and underscores")
        case .virtualHost:
            demand(
                Self.isHostName(bucket), "bucket",
                "must be 3 to 63 lower-case letters, digits, dots and hyphens, to be part of a host name"
            )
            demand(
                place?.isAddress != true, "endpoint",
                "must be a name and no address, because the bucket's name comes before it")
        }
        demand(
            prefix.isEmpty || Self.isPrefix(prefix), "prefix",
            "must be up to 512 bytes of text, without control characters, a leading slash, "
                + "an empty segment, . and ..")
        demand(
            Self.isPrintable(credentials.accessKey)
                && !credentials.accessKey.utf8.contains(where: { ",/=".utf8.contains($0) }),
            "accessKey", "must be printable ASCII without blanks, commas, slashes and =")
        demand(!credentials.secretKey.isEmpty, "secretKey", "must not be empty")
        demand(
            credentials.sessionToken.map(Self.isPrintable) ?? true, "sessionToken",
            "must be printable ASCII without blanks")
        demand(
            !leavesPayloadUnsigned || place?.isSecure != false, "leavesPayloadUnsigned",
            "is for https only: nothing else would notice a changed body")
        demand((1...100).contains(attempts), "attempts", "must be 1 to 100")
        return invalidSettings
    }

    private static func isName(_ text: String, atMost limit: Int) -> Bool {
        (1...limit).contains(text.utf8.count)
            && text.utf8.allSatisfy { byte in isAlphanumeric(byte) || "._-".utf8.contains(byte) }
            && text != "." && text != ".."
    }

    private static func isHostName(_ text: String) -> Bool {
        (3...63).contains(text.utf8.count)
            && text == text.lowercased()
            && text.utf8.allSatisfy { byte in isAlphanumeric(byte) || ".-".utf8.contains(byte) }
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                !label.isEmpty && !label.hasPrefix("-") && !label.hasSuffix("-")
            }
    }

    private static func isPrefix(_ text: String) -> Bool {
        // A prefix may end inside a segment, which the key continues.
        ObjectKey(text + "x") != nil
    }

    private static func isPrintable(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// The credentials of an S3 access key, with a session token if they are temporary.
public struct Credentials: Sendable {
    /// The access key id, which every request contains.
    public let accessKey: String
    let secretKey: String
    let sessionToken: String?

    /// Creates credentials without validating them; see ``ObjectStoreSettings/invalidSettings()``.
    public init(accessKey: String, secretKey: String, sessionToken: String? = nil) {
        self.accessKey = accessKey
        self.secretKey = secretKey
        self.sessionToken = sessionToken
    }
}

extension Credentials: CustomStringConvertible, CustomDebugStringConvertible {
    /// Without the secret, so that logs never show it.
    public var description: String { "access key \(accessKey)" }

    /// Without the secret.
    public var debugDescription: String { description }
}

/// The clock and random numbers, replaceable in tests.
public struct ObjectStoreClock: Sendable {
    /// Milliseconds since 1970 UTC.
    public let now: @Sendable () -> Int64
    /// Waits that many milliseconds; returns early if its task is cancelled.
    public let sleep: @Sendable (Int64) async -> Void
    /// A uniform random number of a range.
    public let random: @Sendable (ClosedRange<Int64>) -> Int64

    /// Creates a clock; by default it really waits.
    public init(
        now: @escaping @Sendable () -> Int64, sleep: (@Sendable (Int64) async -> Void)? = nil,
        random: @escaping @Sendable (ClosedRange<Int64>) -> Int64 = { range in
            Int64.random(in: range)
        }
    ) {
        self.now = now
        self.sleep = sleep ?? pause(milliseconds:)
        self.random = random
    }
}
