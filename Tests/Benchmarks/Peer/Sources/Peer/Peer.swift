import Hummingbird

/// Hummingbird answering every `GET` with the same JSON: `Peer PORT JSON`.
@main
struct Peer {
    static func main() async throws {
        let arguments = CommandLine.arguments
        guard arguments.count == 3, let port = Int(arguments[1]) else {
            fatalError("usage: Peer PORT JSON")
        }
        let body = ByteBuffer(string: arguments[2])
        let router = Router()
        router.get("**") { _, _ in
            Response(
                status: .ok, headers: [.contentType: "application/json; charset=UTF-8"],
                body: ResponseBody(byteBuffer: body))
        }
        let server = Application(
            router: router, configuration: .init(address: .hostname("127.0.0.1", port: port)))
        try await server.runService()
    }
}
