public import HTTP
public import Messaging
public import MessagingWire
public import Uploads

extension Downloads {
    /// What signs download URLs as of a moment.
    ///
    /// - Parameter request: The request in whose answer they stand; `nil` for none.
    public func signing(
        at now: Timestamp, saving: Bool = false, for request: Request? = nil
    ) -> @Sendable (Messaging.Content.ID) -> ContentJSON.SignedLink {
        { id in
            let signed = self.signedURL(
                content: id.uuid, fileName: nil, at: now.milliseconds, saving: saving,
                for: request)
            return ContentJSON.SignedLink(
                url: signed.url,
                expiresAt: Timestamp(milliseconds: signed.expiresAtMilliseconds))
        }
    }
}
