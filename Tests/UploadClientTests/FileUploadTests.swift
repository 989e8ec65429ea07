import FoundationEssentials
import SystemSupport
import TestSupport
import Testing

@testable import UploadClient

@Suite(.timeLimit(.minutes(5))) struct `Uploading a file` {
    /// SHA-256 of "hello".
    private static let hello = "2cf24dba5fb0a30e26e83b2ac5b9e29e1b161e5c1fa7425e73043362938b9824"
    private let folder = TemporaryFolder()

    @Test(
        arguments: [
            ("\"\(hello)\"", true), ("W/\"\(hello)\"", true), (hello, true),
            ("\"\(hello.uppercased())\"", true), (nil, false), ("\"\"", false),
            ("W/\"5-62a\"", false),
            ("\"\(hello)-gzip\"", false),
        ] as [(String?, Bool)])
    func `succeeds, verified when the response has its digest`(
        tag: String?, isVerified: Bool
    ) async throws {
        let server = try UploadServer(tag)
        let content = try await server.upload("hello", from: folder)
        #expect(content == UploadedContent(id: "layer:///content/c", isVerified: isVerified))
        #expect(server.methods == ["POST", "HEAD", "PUT"])
    }

    @Test func `sends the file's name without its path`() async throws {
        let server = try UploadServer(nil)
        _ = try await server.upload("hello", from: folder, as: "a \"b\" ä.txt")
        let disposition = server.creationHead.split(separator: "\r\n").filter { line in
            line.hasPrefix("Content-Disposition:")
        }
        #expect(
            disposition == [
                #"Content-Disposition: attachment; filename="a \"b\" _.txt"; "#
                    + "filename*=UTF-8''a%20%22b%22%20%C3%A4.txt"
            ])
    }

    @Test(arguments: ["", "W/"])
    func `cancels the upload when the digest differs`(prefix: String) async throws {
        let other = String(Self.hello.reversed())
        let server = try UploadServer("\(prefix)\"\(other)\"")
        await #expect(throws: UploadFailure.self) {
            try await server.upload("hello", from: folder)
        }
        #expect(server.methods == ["POST", "HEAD", "PUT", "DELETE"])
    }
}

/// A server that accepts uploads of five bytes and responds with a given ETag.
private struct UploadServer {
    private let server: ScriptedServer
    private let heads: Locked<[String]>

    var methods: [String] {
        heads.withLock { $0.map { head in String(head.prefix { $0 != " " }) } }
    }

    /// The head of the first request.
    var creationHead: String { heads.withLock { $0.first ?? "" } }

    init(_ tag: String?) throws {
        let heads = Locked<[String]>([])
        self.heads = heads
        server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                heads.withLock { $0.append(head) }
                switch head.prefix(while: { $0 != " " }) {
                case "POST":
                    let host = head.split(separator: "\r\n").first { $0.hasPrefix("Host: ") } ?? ""
                    let body =
                        #"{"id":"layer:///content/c","upload_url":"http://\#(host.dropFirst(6))/u"}"#
                    connection.write(
                        "HTTP/1.1 201 OK\r\nContent-Length: \(body.utf8.count)\r\n\r\n\(body)")
                case "PUT":
                    _ = connection.read(5)
                    let line = tag.map { "ETag: \($0)\r\n" } ?? ""
                    connection.write("HTTP/1.1 201 OK\r\n\(line)Content-Length: 0\r\n\r\n")
                default:
                    connection.write(
                        "HTTP/1.1 200 OK\r\nUpload-Offset: 0\r\nContent-Length: 0\r\n\r\n")
                }
            }
        }
    }

    func upload(
        _ text: String, from folder: TemporaryFolder, as file: String = "file"
    ) async throws -> UploadedContent {
        let name = "\(folder.path)/\(file)"
        try Data(text.utf8).write(to: URL(filePath: name))
        let target = try UploadTarget(
            server: "http://127.0.0.1:\(server.port)", application: "1", token: "t",
            conversation: "2")
        return try await FileUpload(
            name, type: "text/plain", to: target, resumeFolder: "\(folder.path)/resume"
        ).run { _ in }
    }
}
