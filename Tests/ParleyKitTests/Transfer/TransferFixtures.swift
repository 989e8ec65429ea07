import FoundationEssentials
import HTTP
import TestSupport

@testable import ParleyKit

/// A server behind a proxy, through which uploads and downloads go, and two users with a conversation.
struct TransferFixture {
    let server: KitServer
    let proxy: CuttingProxy
    let folder = TemporaryFolder()

    init() throws {
        proxy = try CuttingProxy()
        server = try KitServer(["PARLEY_UPLOADS_UPLOAD_PUBLIC_BASE=http://127.0.0.1:\(proxy.port)"])
        proxy.setTarget(server.port)
    }

    /// A device of a user that reaches the server through the proxy only.
    func client(
        _ user: UserID, device: String = "phone",
        _ transport: (any Transport)? = nil,
        _ change: (inout Configuration) -> Void = { _ in }
    ) async throws -> ParleyClient {
        var configuration = server.configuration(user, device: device, through: proxy.port)
        configuration.autoDownload = .nothing
        change(&configuration)
        let client =
            if let transport {
                try await ParleyClient(configuration, transport)
            } else {
                try await openClient(configuration)
            }
        try await client.authenticate()
        return client
    }

    /// A file of bytes that depend on their position.
    func file(_ size: Int, _ seed: UInt64 = 1) throws -> (url: URL, bytes: [UInt8]) {
        var bytes = patternBytes(size)
        for (index, byte) in withUnsafeBytes(of: seed, Array.init).enumerated() where index < size {
            bytes[index] ^= byte
        }
        let url = URL(filePath: "\(folder.path)/\(size)-\(seed).bin")
        try Data(bytes).write(to: url)
        return (url, bytes)
    }
}

extension ParleyClient {
    /// The parts of a message.
    func parts(of message: Message.ID) async throws -> [MessagePart] {
        try await self.message(message)?.parts ?? []
    }

    /// The bytes of a part on this device.
    func bytes(of part: MessagePart.ID) async throws -> [UInt8]? {
        guard let content = try await content(of: part) else { return nil }
        return Array(try await content.data())
    }

    /// The first part of the last message of a conversation, once it is there.
    func lastPart(in conversation: Conversation.ID, _ count: Int = 1) async throws -> MessagePart {
        var found: MessagePart?
        try await eventually("\(count) messages") {
            let messages = try await self.messages(in: conversation)
            found = messages.last?.parts.first
            return messages.count >= count
        }
        guard let found else { throw KitServer.Failure(text: "no part") }
        return found
    }
}

/// Changes the requests and answers of downloads.
struct AlteringTransport: Transport {
    let base: any Transport
    let alter: @Sendable (inout TransportRequest) -> Int?
    let digest: @Sendable () -> String?

    func send(_ request: TransportRequest) async throws(ParleyError) -> TransportResponse {
        try await base.send(request)
    }

    func open(_ request: TransportRequest) async throws(ParleyError) -> any TransportStream {
        guard request.path.contains("/download/") else { return try await base.open(request) }
        var request = request
        let status = alter(&request)
        let stream = try await base.open(request)
        return AlteredStream(
            base: stream, status: status ?? stream.status, digest: digest())
    }
}

private struct AlteredStream: TransportStream {
    let base: any TransportStream
    let status: Int
    let digest: String?

    var headers: Fields {
        guard let digest else { return base.headers }
        var fields = ["etag", "content-length", "content-range"].compactMap { name in
            switch name {
            case "etag": base.headers["etag"].map { (name: name, value: $0) }
            case "content-length": base.headers["content-length"].map { (name: name, value: $0) }
            default: base.headers["content-range"].map { (name: name, value: $0) }
            }
        }
        fields.append((name: "repr-digest", value: digest))
        return Fields(fields)
    }

    func next() async throws(ParleyError) -> [UInt8]? { try await base.next() }

    func cancel() { base.cancel() }
}

/// Does something while all back-offs are ended again and again.
func kicking(
    _ client: ParleyClient, _ body: () async throws -> Void
) async throws {
    let kicks = Task {
        while !Task.isCancelled {
            try await Task.sleep(for: .milliseconds(100))
            client.kick()
        }
    }
    defer { kicks.cancel() }
    try await body()
}
