public import Messaging
public import MessagingWire
public import Uploads

extension Downloads {
    /// What signs download URLs as of a moment.
    public func signing(
        at now: Timestamp, saving: Bool = false
    ) -> @Sendable (Messaging.Content.ID) -> ContentJSON.SignedLink {
        { id in
            let signed = self.signedURL(
                content: id.uuid, fileName: nil, at: now.milliseconds, saving: saving)
            return ContentJSON.SignedLink(
                url: signed.url,
                expiresAt: Timestamp(milliseconds: signed.expiresAtMilliseconds))
        }
    }
}
