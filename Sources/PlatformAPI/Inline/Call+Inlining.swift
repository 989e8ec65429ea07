import Base64
import HTTP
import Messaging
import MessagingWire
import Uploads

extension Call {
    /// Which contents this request wants in the answer itself (X8); a request without a query, as
    /// almost all are, is not looked at closer.
    func inlinePolicy() throws -> InlinePolicy? {
        guard !query.isEmpty else { return nil }
        return try InlinePolicy(query)
    }

    /// How an answer shows messages, with the contents its reader wants in it.
    func presentation(
        _ perspective: LinkBuilder.Perspective, of messages: [Message], _ policy: InlinePolicy?
    ) async -> Presentation {
        var presentation = presentation(perspective)
        guard let policy else { return presentation }
        for id in policy.contents(of: messages) {
            presentation.inlined[id] = await api.downloads.read(id.uuid) { bytes in
                // As JSON, so that the loop has but to copy it.
                [UInt8(ascii: "\"")] + Base64.octets(bytes) + [UInt8(ascii: "\"")]
            }
        }
        return presentation
    }
}
