import FoundationEssentials
import HTTP
import SQL
import TestSupport
import Testing

@testable import ParleyKit

/// Sessions, and stores that cannot be used.
@Suite struct SessionTests {
    @Test func `a session that was ended is renewed, and nothing is lost (K6)`() async throws {
        let server = try KitServer()
        let (ana, bo) = (try await server.client("ana"), try await server.client("bo"))
        ana.connect()
        bo.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("one")], to: conversation).id)
        let token = try await ana.engine.session.currentToken()
        _ = try await ana.engine.transport.send(
            TransportRequest(method: .delete, path: "/sessions/\(token)"))
        try await ana.waitUntilSent(try await ana.send([.text("two")], to: conversation).id)
        #expect(try await ana.engine.session.currentToken() != token)
        try await eventually("bo has both") {
            try await bo.texts(in: conversation) == ["one", "two"]
        }
        for client in [ana, bo] { await client.close() }
    }

    @Test func `a store belongs to one user (K7)`() async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        await ana.engine.session.end()
        await ana.close()
        var configuration = server.configuration("bo")
        configuration.store = server.configuration("ana").store
        let bo = try await openClient(configuration)
        // The session has ended, so the first request needs a new one.
        bo.connect()
        try await eventually("the wrong user is refused") {
            if case .unauthenticated(let error) = bo.connection { return error.code == .wrongUser }
            return false
        }
        #expect(try await bo.user == "ana")
        await bo.close()
    }

    @Test func `only the user of the process can read the store with its token (K9)`() async throws
    {
        let server = try KitServer()
        let folder = server.configuration("ana").store.path
        // A folder that the application has made is restricted.
        try FileManager.default.createDirectory(
            atPath: folder, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o755])
        let ana = try await server.client("ana")
        #expect(try Access.mode(of: folder) == 0o700)
        let token = try await ana.engine.session.currentToken()
        let file = "\(folder)/session"
        #expect(try Access.mode(of: file) == 0o600)
        #expect(try SessionFile.read(in: folder) == StoredSession(user: "ana", token: token))
        await ana.close()
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
        let again = try await openClient(server.configuration("ana"))
        #expect(try await again.engine.session.currentToken() == token)
        #expect(try Access.mode(of: file) == 0o600)
        await again.engine.session.end()
        #expect(!FileManager.default.fileExists(atPath: file))
        await again.close()
    }

    @Test func `logging out deletes everything (K8)`() async throws {
        let server = try KitServer()
        let ana = try await server.client("ana")
        let conversation = try await ana.newConversation(with: ["bo"]).id
        try await ana.send([.text("secret")], to: conversation)
        try await ana.deauthenticate()
        await #expect(throws: ParleyError.self) { try await ana.conversation(conversation) }
        // A client that is closed leaves the files to the one that has opened them since.
        let other = try await server.client("ana")
        let kept = try await other.newConversation(with: ["bo"]).id
        await #expect { try await ana.deauthenticate() } throws: { error in
            (error as? ParleyError)?.code == .closed
        }
        #expect(try await other.conversation(kept) != nil)
        #expect(FileManager.default.fileExists(atPath: Store.database(in: other.store.folder)))
        try await other.deauthenticate()
        let again = try await openClient(server.configuration("ana"))
        #expect(try await again.user == nil)
        #expect(try await again.conversation(conversation) == nil)
        await #expect(throws: ParleyError.self) { try await again.newConversation(with: ["bo"]) }
        await again.close()
    }

    @Test func `a server that was replaced is believed, and answers waiting commands (K28)`()
        async throws
    {
        let server = try KitServer()
        let ana = try await server.client("ana")
        ana.connect()
        let old = try await ana.newConversation(with: ["bo"]).id
        try await ana.waitUntilSent(try await ana.send([.text("old")], to: old).id)
        await ana.disconnect()
        let waiting = try await ana.send([.text("waiting")], to: old)
        let new = try await ana.newConversation(with: ["cy"]).id
        let first = try await ana.send([.text("new")], to: new)
        server.replace()
        ana.connect()
        try await ana.waitUntilSent(first.id)
        try await eventually("the old conversation is gone") {
            try await ana.conversations().map(\.id) == [new]
        }
        try await eventually("what could not be sent has failed") {
            if case .failed(let error)? = try await ana.message(waiting.id)?.delivery {
                return error.code == .conversationGone
            }
            return false
        }
        try await ana.discard(waiting.id)
        #expect(try await ana.texts(in: new) == ["new"])
        await ana.close()
    }

    @Test func `stores that are open, newer or damaged are refused (K4, K20)`() async throws {
        let folder = TemporaryFolder()
        let store = try Store(folder: folder.path)
        #expect(throws: ParleyError.self) { try Store(folder: folder.path) }
        try await store.write { transaction in
            try transaction.sql.execute(
                "INSERT INTO schema_migrations (number, name, applied_at) VALUES (99, 'later', 0)")
        }
        store.close()
        #expect { try Store(folder: folder.path) } throws: { error in
            (error as? ParleyError)?.code == .storeTooNew
        }
        let path = "\(folder.path)/parley.sqlite"
        try Data(repeating: 0x55, count: 100_000).write(to: URL(filePath: path))
        #expect { try Store(folder: folder.path) } throws: { error in
            (error as? ParleyError)?.code == .storeCorrupt
        }
        let file = TemporaryFolder()
        try Data().write(to: URL(filePath: "\(file.path)/x"))
        #expect { try Store(folder: "\(file.path)/x") } throws: { error in
            (error as? ParleyError)?.code == .storeUnavailable
        }
    }
}
