internal import Messaging
internal import MessagingWire
internal import Uploads

extension Downloads {
    /// Returns a function that signs download URLs as of a moment.
    func signing(at now: Timestamp) -> @Sendable (Messaging.Content.ID) -> ContentJSON.SignedLink {
        { id in
            let signed = self.signedURL(content: id.uuid, fileName: nil, at: now.milliseconds)
            return ContentJSON.SignedLink(
                url: signed.url,
                expiresAt: Timestamp(milliseconds: signed.expiresAtMilliseconds))
        }
    }
}
