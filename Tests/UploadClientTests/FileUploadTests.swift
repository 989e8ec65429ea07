import FoundationEssentials
import SystemSupport
import TestSupport
import Testing

@testable import UploadClient

@Suite(.timeLimit(.minutes(5))) struct `A file that was brought` {
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
    func `stays, verified where the answer says what it is`(
        tag: String?, isVerified: Bool
    ) async throws {
        let server = try Uploads(tag)
        let content = try await server.bring("hello", from: folder)
        #expect(content == UploadedContent(id: "layer:///content/c", isVerified: isVerified))
        #expect(server.methods == ["POST", "HEAD", "PUT"])
    }

    @Test func `is announced with its name, and not where it lies`() async throws {
        let server = try Uploads(nil)
        _ = try await server.bring("hello", from: folder, as: "a \"b\" ä.txt")
        let said = server.announcement.split(separator: "\r\n").filter { line in
            line.hasPrefix("Content-Disposition:")
        }
        #expect(
            said == [
                #"Content-Disposition: attachment; filename="a \"b\" _.txt"; "#
                    + "filename*=UTF-8''a%20%22b%22%20%C3%A4.txt"
            ])
    }

    @Test(arguments: ["", "W/"])
    func `is taken back when it is another`(prefix: String) async throws {
        let other = String(Self.hello.reversed())
        let server = try Uploads("\(prefix)\"\(other)\"")
        await #expect(throws: UploadFailure.self) {
            try await server.bring("hello", from: folder)
        }
        #expect(server.methods == ["POST", "HEAD", "PUT", "DELETE"])
    }
}

/// A server that takes every upload of five bytes and answers with the same tag.
private struct Uploads {
    private let server: ScriptedServer
    private let heard: Locked<[String]>

    var methods: [String] {
        heard.withLock { $0.map { head in String(head.prefix { $0 != " " }) } }
    }

    /// The head of the first request.
    var announcement: String { heard.withLock { $0.first ?? "" } }

    init(_ tag: String?) throws {
        let heard = Locked<[String]>([])
        self.heard = heard
        server = try ScriptedServer { connection in
            while let head = connection.readHead() {
                heard.withLock { $0.append(head) }
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

    func bring(
        _ words: String, from folder: TemporaryFolder, as file: String = "file"
    ) async throws -> UploadedContent {
        let name = "\(folder.path)/\(file)"
        try Data(words.utf8).write(to: URL(filePath: name))
        let target = try UploadTarget(
            server: "http://127.0.0.1:\(server.port)", application: "1", token: "t",
            conversation: "2")
        return try await FileUpload(
            name, type: "text/plain", to: target, resumeFolder: "\(folder.path)/memos"
        ).run { _ in }
    }
}
