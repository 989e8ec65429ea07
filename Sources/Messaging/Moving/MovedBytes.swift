/// Some bytes of a content, which the record behind them names.
public struct MovedBytes: Equatable, Sendable {
    /// Whose they are.
    public let content: Content.ID
    /// The place of the first one, from 0.
    public let place: Int64
    /// The bytes; none of an empty content.
    public let bytes: [UInt8]

    /// How many an export puts on a line, which are a megabyte of base64; only the last piece of a
    /// content is shorter.
    public static let usual = 768 << 10
    /// Most on a line.
    public static let most = 4 << 20

    /// A piece of a content.
    public init(of content: Content.ID, at place: Int64, _ bytes: [UInt8]) {
        self.content = content
        self.place = place
        self.bytes = bytes
    }
}
