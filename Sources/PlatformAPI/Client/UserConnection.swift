import HTTP
import Messaging
import MessagingStore
import MessagingWire
import Uploads

/// What is kept of the request that opens a WebSocket or an event stream, so that objects are shown to its user as long as it
/// lasts.
struct UserConnection: Sendable {
    let api: PlatformAPI
    let application: Application.ID
    let user: UserID
    let version: APIVersion
    /// Without its header fields, because an idle connection keeps it.
    let request: Request

    init(
        of user: UserID, version: APIVersion, in application: Application.ID, _ request: Request,
        _ api: PlatformAPI
    ) {
        self.api = api
        self.application = application
        self.user = user
        self.version = version
        self.request = Request(
            method: .get, target: RequestTarget("/"), fields: Fields([]), id: request.id,
            peer: request.peer, scheme: request.scheme, isProxied: request.isProxied,
            forwardedHost: request.forwardedHost)
    }

    /// The base of all URLs.
    var base: String { api.publicBase.of(request) }

    /// The form in which objects are shown at the moment; URLs are signed as of now.
    func presentation() -> Presentation {
        let now = api.clock().milliseconds
        let links = LinkBuilder(
            publicBase: base, application: application, perspective: .user(user),
            omitsApplication: true)
        return Presentation(version: version, links: links) {
            [downloads = api.downloads, request] content in
            downloads.signedURL(content: content, at: now, saving: false, for: request)
        }
    }
}
