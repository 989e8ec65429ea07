import Base64
import JSON
public import Messaging

/// How far a content has come: what `include=transfer` adds to it (X7).
public struct TransferJSON: Sendable {
    /// In a word.
    public let status: TransferStatus
    /// Bytes that are stored durably.
    public let received: Int64
    /// SHA-256 of the whole content, 32 bytes; `nil` until it is complete.
    public let sha256: [UInt8]?

    /// A state to show.
    public init(_ status: TransferStatus, received: Int64, sha256: [UInt8]? = nil) {
        self.status = status
        self.received = received
        self.sha256 = sha256
    }

    func write(into writer: inout JSONWriter) {
        writer.member("transfer_status", status.rawValue)
        writer.member("bytes_received", received)
        writer.key("checksum")
        guard let sha256 else {
            writer.null()
            return
        }
        writer.object { writer in writer.member("sha-256", Base64.encode(sha256)) }
    }

    static let members: [JSONSchema.Member] = [
        .optional("transfer_status", .choice(TransferStatus.allCases.map(\.rawValue))),
        .optional("bytes_received", .integer(0 ... .max)),
        .optional(
            "checksum",
            JSONSchema.object([.required("sha-256", JSONSchema.string.saying("In base64."))])
                .orNull),
    ]
}

/// How far the parts of a message have come: what `include=transfer` adds to it (X7).
enum MessageTransferJSON {
    static func write(_ transfer: Message.Transfer, into writer: inout JSONWriter) {
        writer.key("transfer")
        writer.object { writer in
            writer.member("bytes", transfer.bytes)
            writer.member("bytes_received", transfer.received)
            writer.key("fraction")
            writer.double(transfer.fraction)
        }
    }

    static let schema = JSONSchema.object([
        .required("bytes", .integer(0 ... .max)),
        .required("bytes_received", .integer(0 ... .max)),
        .required("fraction", .number(0...1)),
    ])
}
