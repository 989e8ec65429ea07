import HTTP
import Transfers

@testable import ParleyKit

/// Answers to commands, uploads and downloads (K32, K69): a line with the status, lines of headers, an empty line, and the
/// body.
enum KitAnswers {
    static func check(_ input: [UInt8]) {
        var lines = input.split(separator: 10, omittingEmptySubsequences: false)[...]
        guard let status = lines.popFirst().flatMap({ Int(String(decoding: $0, as: UTF8.self)) })
        else { return }
        var headers: [(name: String, value: String)] = []
        while let line = lines.popFirst(), !line.isEmpty {
            let text = String(decoding: line, as: UTF8.self)
            guard let colon = text.firstIndex(of: ":") else { continue }
            headers.append(
                (
                    String(text[..<colon]),
                    String(text[text.index(after: colon)...].drop { $0 == " " })
                ))
        }
        let fields = Fields(headers.filter { header in !header.name.isEmpty })
        checkCommand(status, fields, Array(lines.joined(separator: [10])))
        checkTransfers(status, fields, Array(lines.joined(separator: [10])))
    }

    private static func checkCommand(_ status: Int, _ fields: Fields, _ body: [UInt8]) {
        let id = ParleyKit.Conversation.ID("f3cc7b32-3c92-11e4-baad-164230d1df67")
        let response = OutboxResponse(
            status: status, body: body, contentLocation: fields["content-location"],
            retryAfter: fields["retry-after"].flatMap { Int($0) },
            cursor: fields["parley-cursor"].flatMap { FeedPosition($0) })
        for kind in [OutboxKind.create, .send, .patch, .read, .leave] {
            let outcome = OutboxOutcome(response, to: kind, creating: id)
            switch outcome {
            case .done:
                invariant(
                    "a success has its position in the feed",
                    response.cursor != nil || !(200...299).contains(status))
            case .merged(let other, _):
                invariant("only creations merge", kind == .create && other != id)
            case .refused(let error, _):
                invariant("only errors of Parley refuse", error.server != nil)
                invariant(
                    "a stored error is read again", ParleyError(stored: error.stored) == error)
            case .retry, .authenticate: break
            }
        }
    }

    private static func checkTransfers(_ status: Int, _ fields: Fields, _ body: [UInt8]) {
        let response = TransportResponse(status: status, headers: fields, body: body)
        let location = ParleyKit.UploadMachine.Location(url: "u", content: "c")
        for action in [
            ParleyKit.UploadMachine.Action.create, .query(location), .send(location, from: 10),
        ] {
            let event = ParleyKit.UploadMachine.Event(response, to: action, digest: [1])
            if case .offset(let offset) = event { invariant("no offset is negative", offset >= 0) }
            var machine = ParleyKit.UploadMachine(size: 100, location: location)
            if case .send(_, let start) = machine.handle(event) {
                invariant("nothing is sent from beyond the end", (0...100).contains(start))
            }
        }
        for position: Int64 in [0, 10, 99] {
            var machine = DownloadMachine(size: 100)
            _ = machine.handle(.start(have: position))
            _ = machine.handle(.located("u"))
            let event = DownloadMachine.Event(status: status, fields, from: position, size: 100)
            if case .receive(let start) = machine.handle(event) {
                invariant("no byte is skipped", (0...position).contains(start))
            }
        }
        _ = reprDigest(fields["repr-digest"])
    }
}
