import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire

extension Call {
    /// `PUT /export_schedule` (platform-api §5.12).
    func setExportSchedule(_ body: JSONValue) async throws -> Reply {
        let asked = try ExportScheduleJSON.read(body.asObject())
        let schedule = try await store.setExportSchedule(
            asked.interval, asked.topics, in: application)
        return Reply(.ok, json(schedule))
    }

    /// `GET /export_schedule` (platform-api §5.12); `disabled` until somebody says something.
    func readExportSchedule() async throws -> Reply {
        Reply(.ok, json(try await store.exportSchedule(in: application)))
    }

    private func json(_ schedule: ExportSchedule) -> [UInt8] {
        var writer = JSONWriter()
        ExportScheduleJSON.write(schedule, into: &writer)
        return writer.finish()
    }
}
