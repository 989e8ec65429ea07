/// A part of a multipart upload, as the store holds it.
public struct ObjectPart: Sendable, Equatable {
    /// From 1 to 10,000; ascending order decides assembly (§10.2).
    public let number: Int
    /// In bytes.
    public let size: Int64
    /// The store's name of these bytes, as it wrote it, with its quotes.
    public let tag: String
    /// Their CRC-32C in base64, where parts carry it (§10.4).
    var sum: String?

    /// The most parts an upload has (§10.2).
    public static let mostParts = 10_000

    /// Takes what ``ObjectStore/putPart(_:upload:number:_:sha256:)`` answered and the size that was sent.
    public init(number: Int, size: Int64, tag: String) {
        self.number = number
        self.size = size
        self.tag = tag
    }
}
