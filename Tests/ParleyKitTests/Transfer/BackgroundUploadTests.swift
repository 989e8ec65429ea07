import FoundationEssentials
import SystemSupport
import Testing

@testable import ParleyKit

/// Uploads that the system goes on with while the process does not run.
@Suite(.timeLimit(.minutes(5))) struct BackgroundUploadTests {
    /// A system that sends requests by another transport, when it is allowed to.
    private struct FakeSystem: BackgroundUploader {
        let transport: any Transport
        let requests = BackgroundRequests()
        let gate = Gate()
        let begun = Locked<[MessagePart.ID]>([])

        func put(
            _ request: TransportRequest, of part: MessagePart.ID
        ) async throws(ParleyError) -> TransportResponse {
            try await requests.answer(of: part) { () throws(ParleyError) in
                begun.withLock { begun in begun.append(part) }
                Task {
                    await gate.pass()
                    do throws(ParleyError) {
                        requests.finish(part, .success(try await transport.send(request)))
                    } catch {
                        requests.finish(part, .failure(error))
                    }
                }
            }
        }

        func settle(_ part: MessagePart.ID) async throws(ParleyError) {
            try await requests.settle(part)
        }

        func cancel(_ part: MessagePart.ID) {}
    }

    @Test func `an upload that ends while nothing runs sends its message in the next run (K41)`()
        async throws
    {
        let server = try KitServer()
        var configuration = server.configuration("ana")
        configuration.backgroundTransfers = .on(identifier: "example.chat")
        let transport = try openTransport(configuration)
        let system = FakeSystem(transport: transport)
        system.gate.close()
        let ana = try await ParleyClient(configuration, transport, system)
        try await ana.authenticate()
        ana.connect()
        let conversation = try await ana.newConversation(with: ["bo"]).id
        let draft = PartDraft.data(Data(repeating: 9, count: 100_000), mimeType: "a/b")
        let message = try await ana.send([draft], to: conversation)
        let part = try #require(message.parts.first?.id)
        try await eventually("the system has the request", within: .seconds(60)) {
            system.begun.withLock { begun in begun == [part] }
        }
        await ana.close()
        // The same application in another process, to which the system names the task.
        let again = try await ParleyClient(configuration, transport, system)
        #expect(try await again.handleBackgroundEvents("another") == nil)
        async let changes = again.handleBackgroundEvents("example.chat", within: .seconds(120))
        system.gate.open()
        let told = try #require(try await changes)
        #expect(told.contains { change in change.object == .message(message.id) })
        #expect(try await again.message(message.id)?.delivery == .sent)
        #expect(again.connection == .idle)
        #expect(system.begun.withLock { begun in begun == [part] })
        await again.close()
    }

    @Test func `requests are known by their descriptions, and those of others are not (K41)`()
        throws
    {
        let part = try #require(
            MessagePart.ID(
                "layer:///messages/0190a5c0-0000-7000-8000-000000000001/parts/0190a5c0-0000-7000-8000-000000000002"
            ))
        let name = BackgroundTaskName(part)
        #expect(BackgroundTaskName(name.text) == name)
        for text in [nil, "", "parley-upload ", "parley-upload x", "another \(part)", "\(part)"] {
            #expect(BackgroundTaskName(text) == nil)
        }
    }

    @Test func `waiting for a request ends with it, with its task, or when it cannot begin (K41)`()
        async throws
    {
        let requests = BackgroundRequests()
        let part = MessagePart.ID("1", of: messageID(1))
        try await requests.settle(part)
        await #expect(throws: ParleyError.cancelled) {
            try await requests.answer(of: part) { () throws(ParleyError) in throw .cancelled }
        }
        let waiting = Task { _ = try await requests.answer(of: part) {} }
        waiting.cancel()
        _ = await waiting.result
        requests.found(part)
        let settled = Task { try await requests.settle(part) }
        requests.finish(part, .failure(.cancelled))
        try await settled.value
    }
}
