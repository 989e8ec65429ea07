public import HTTP

/// A whole answer of another server.
public struct ClientAnswer: Sendable {
    /// 200…599.
    public let status: Int
    /// Its fields, in the order they came.
    public let fields: Fields
    /// Its body, without the coding of the transfer.
    public let body: [UInt8]
}
