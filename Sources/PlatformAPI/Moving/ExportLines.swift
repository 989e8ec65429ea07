import Blobs
import HTTP
import Messaging
import MessagingStore
import Moving
import Uploads

extension Call {
    /// `GET /export` (X10): everything of the application as it is at one moment.
    ///
    /// It is written down before the first octet leaves, so nobody who reads slowly holds the database.
    func exportLines() async throws -> Reply {
        guard let wish = ContentWish(rawValue: query["contents"] ?? ContentWish.inline.rawValue)
        else { throw Rejection.invalid("contents", .contentChoice) }
        guard request.method != .head else { return Reply(.withheld, LinesType.name) }
        let (api, id) = (api, request.id)
        let seat = try api.exports.seat(for: application, "An export of this application")
        let lines = try await api.withRoom {
            try await ExportedLines(
                of: application, in: store, at: api.uploads.blobs, with: wish == .inline
            ) { try api.uploads.requireRoom() }
        }
        let content = HTTP.Content.written { writer in
            defer { withExtendedLifetime(seat) {} }
            do {
                try await lines.forEachPiece(from: api.uploads.contents) { piece in
                    try await writer.write(piece)
                }
            } catch let error where !(error is ContentWriter.Closed || error is CancellationError) {
                // The status has left: that something is missing tells the broken connection.
                _ = api.onFault(error, id)
                throw error
            }
        }
        return Reply(content, LinesType.name)
    }
}
