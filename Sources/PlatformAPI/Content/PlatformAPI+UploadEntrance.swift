public import HTTP
import Messaging
import MessagingStore
import MessagingWire
public import Uploads

extension PlatformAPI: UploadEntrance {
    /// Lets the bearer of an application's token create content outside of any conversation
    /// (extensions, precedence 5).
    public func admit(_ request: Request) async throws(UploadError) -> UploadAdmission {
        guard let token = try? BearerToken(request.fields) else {
            throw .unauthenticated
        }
        let grant: Grant?
        do {
            grant = try await store.authenticate(token.secret)
        } catch {
            throw onFault(error, request.id) == .unavailable ? .busy : .backend
        }
        guard let grant else { throw .unauthenticated }
        guard !grant.application.isSuspended, grant.token.scope >= .write else {
            throw .forbidden
        }
        if case .refused = limiter.admit(grant.token.id, at: clock().milliseconds) {
            throw .rateLimited
        }
        let id = newContentID()
        return UploadAdmission(
            owner: UploadOwner(application: grant.application.id.uuid), contentID: id.uuid,
            fields: [("Parley-Content-Id", IdentifierJSON.text(id, in: .content))],
            requestOwner: grant.owner)
    }
}
