import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// A batch (platform-api §5.2.1): judged whole, then sent whole.
    func sendBatch(_ body: JSONValue) async throws -> Reply {
        let batch = try MessageBatchJSON.read(body, version)
        return answer(
            try await store.sendBatch(batch, to: conversation(), key: key, in: application))
    }

    /// What is answered without a message: 202, its time will come.
    func answer(_ acceptance: Acceptance) -> Reply {
        switch acceptance {
        case .accepted: Reply(.accepted)
        case .replayed(let sent): reply(Creation.replayed(sent))
        case .idInUse(let sent): reply(Creation.idInUse(sent))
        }
    }
}
