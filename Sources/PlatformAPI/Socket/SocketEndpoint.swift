import HTTP
import JSON
import Messaging
import MessagingStore
import MessagingWire
import WebSockets

extension Endpoint {
    /// The paths of WebSockets; `/` is one more for requests that are a handshake (client-api §5.1).
    static let socketPaths: Set<String> = ["/websocket", "/websockets"]

    /// The WebSocket of the user of a session. It is no row of the endpoint tables, because no description can show what
    /// follows a handshake.
    fileprivate static let socket = Endpoint(
        .get, "/websocket", "Opens a WebSocket.", takesTokenFromQuery: true, family: .client,
        versions: [.v3_0], .withoutBody { context in try await context.openSocket() }
    ) { _ in
        Operation(
            "openSocket",
            query: [Parameter("session_token", .string, "The session token.")], answers: [])
    }
}

extension WebSocketSettings {
    /// Those of the sockets of users: text in three sub-protocols, and a client that leaves 256 KiB of refusals unread is
    /// disconnected.
    init(_ settings: PlatformSettings) {
        self = settings.webSockets
        maximumQueueBytes = 256 << 10
        slowConsumerCode = .tryAgainLater
        isTextOnly = true
        origins = settings.crossOrigins
        subprotocols = SocketVersion.allCases.reversed().map(\.rawValue)
        requiresSubprotocol = true
        compression = WebSocketCompression(minimum: 4096)
    }
}

/// A sub-protocol: it fixes the version of the objects in packets (client-api §5.1).
enum SocketVersion: String, CaseIterable {
    case v1 = "layer-1.0"
    case v2 = "layer-2.0"
    case v3 = "layer-3.0"

    var version: APIVersion {
        switch self {
        case .v1: .v1_0
        case .v2: .v2_0
        case .v3: .v3_0
        }
    }
}

extension PlatformAPI {
    /// The route of all WebSockets, for logs and metrics.
    public static let socketRoute = Endpoint.socket.path.description

    /// Whether a request asks for a WebSocket.
    func isHandshake(_ request: Request) -> Bool {
        request.method == .get
            && request.fields.joined("Upgrade")?.lowercased() == "websocket"
    }

    /// Answers a handshake on any of the paths of WebSockets (client-api §5.1).
    func openSocket(_ request: Request) -> Answer {
        answer(
            RequestChecks(
                api: self, request: request, endpoint: .socket, parameters: [:],
                fixedVersion: .v3_0),
            Self.socketRoute)
    }
}

extension RequestContext {
    /// `GET /websocket` (client-api §5.1).
    fileprivate func openSocket() async throws -> Reply {
        // Without its path.
        let own = api.publicBase.of(request).split(
            separator: "/", omittingEmptySubsequences: false
        ).prefix(3).joined(separator: "/")
        let offer: WebSocketOffer
        switch api.webSockets.handshake(request, ownOrigin: own, refusing: api.refusal) {
        case .valid(let valid): offer = valid
        case .refused(let response): return Reply(response)
        }
        guard let version = offer.subprotocol.flatMap(SocketVersion.init)?.version,
            case .session(let session) = caller, let token = sessionToken
        else { throw APIError(.invalidRequest, "The sub-protocol is not known.") }
        let slot = try streamSlot(retryAfter: 60)
        let socket = ClientSocket(
            of: session, token: token,
            UserConnection(of: session.user, version: version, in: application, request, api))
        return Reply(Response(offer.accept(socket, slot: slot)))
    }

    private var sessionToken: SessionToken? {
        request.fields.contains("Authorization")
            ? try? SessionToken(request.fields) : SessionToken(request.target)
    }
}
