import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `POST /exports` (platform-api §5.12): at most one a day.
    func createExport() async throws -> Reply {
        Reply(.accepted, json(try await store.requestExport(in: application)))
    }

    /// An export as the system sees it.
    func json(_ export: Export) -> [UInt8] {
        var writer = JSONWriter(capacity: 2048)
        write(export, into: &writer)
        return writer.finish()
    }

    /// Writes an export; its archive is signed for as a content is.
    func write(_ export: Export, into writer: inout JSONWriter) {
        let presentation = presentation()
        ExportJSON.write(
            export, presentation.links, sign: { id in presentation.sign(Messaging.Content.ID(id)) },
            into: &writer)
    }
}
