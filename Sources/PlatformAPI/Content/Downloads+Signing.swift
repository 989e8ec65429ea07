import Messaging
import MessagingWire
import Uploads

extension Downloads {
    /// What signs download URLs as of a moment.
    func signing(
        at now: Timestamp
    ) -> @Sendable (Messaging.Content.ID) -> ContentJSON.SignedLink {
        { id in
            let signed = self.signedURL(content: id.uuid, fileName: nil, at: now.milliseconds)
            return ContentJSON.SignedLink(
                url: signed.url,
                expiresAt: Timestamp(milliseconds: signed.expiresAtMilliseconds))
        }
    }
}
