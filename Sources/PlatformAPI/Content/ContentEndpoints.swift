public import HTTP
import JSON
public import Messaging
import MessagingStore
import MessagingWire
public import Uploads

extension Endpoint {
    /// Rich content (platform-api §5.4).
    static let content = [
        Endpoint(
            .post, "/apps/{app}/conversations/{conversation}/content",
            "Creates content and returns its upload URL.", hasExternalEffects: true,
            .withoutBody { context in try await context.createContent() }
        ) { _, limits in
            Operation(
                "createContent",
                fields: uploadFields(limits),
                answers: [.created(ContentJSON.announcedSchema, [.location, .contentLocation])],
                errors: [.objectDeleted, .quotaExceeded], example: Example(fields: uploadExample))
        },
        Endpoint(
            .get, "/apps/{app}/conversations/{conversation}/content/{content}",
            "Returns a new download URL of content.",
            .withoutBody { context in try await context.readContent() }
        ) { _ in
            Operation(
                "readContent", query: Parameter.include + Parameter.saving,
                answers: [.ok(ContentJSON.anySchema, "The content.", [.contentLocation])],
                errors: [.objectDeleted])
        },
        Endpoint(
            .post, "/apps/{app}/users/{user}/content",
            "Creates content of a user and returns its upload URL.", hasExternalEffects: true,
            .withoutBody { context in try await context.createContentOfUser() }
        ) { _, limits in
            Operation(
                "createUserContent",
                fields: uploadFields(limits),
                answers: [.created(ContentJSON.announcedSchema, [.location])],
                errors: [.quotaExceeded, .userErased], example: Example(fields: uploadExample))
        },
        Endpoint(
            .get, "/apps/{app}/content/{content}",
            "Returns a new download URL of any content of the application.",
            .withoutBody { context in try await context.readContentOfApplication() }
        ) { _ in
            Operation(
                "readApplicationContent", query: Parameter.include + Parameter.saving,
                answers: [.ok(ContentJSON.anySchema, "The content.")])
        },
        Endpoint(
            .get, "/apps/{app}/users/{user}/content/{content}",
            "Returns a new download URL of content that a user may read.",
            .withoutBody { context in try await context.readContentOfUser() }
        ) { _ in
            Operation(
                "readUserContent", query: Parameter.include + Parameter.saving,
                answers: [.ok(ContentJSON.anySchema, "The content.")])
        },
    ]

    private static func uploadFields(_ limits: MessagingLimits) -> [Parameter] {
        [
            Parameter(
                "Upload-Content-Type", .string, "The media type of the content.", isRequired: true),
            Parameter(
                "Upload-Content-Length", .integer(0...limits.messageBytes),
                "The bytes of the content.",
                isRequired: true),
            Parameter(
                "Upload-Origin", .string,
                "The origin whose pages may upload and download the content."),
            Parameter("Content-Disposition", .string, "The file name of downloads."),
        ]
    }

    private static let uploadExample = [
        (name: "Upload-Content-Type", value: "image/png"),
        (name: "Upload-Content-Length", value: "4821"),
    ]
}

extension PlatformAPI: UploadAuthorizer {
    /// Authorizes a request that creates content outside of any conversation, by a token with the scope `write` or by a
    /// session, whose user then owns the content (extensions, precedence 5).
    public func authorize(_ request: Request) async throws(UploadError) -> UploadAuthorization {
        let authorization =
            if let token = try? SessionToken(request.fields) {
                try await uploadAuthorization(token, request)
            } else {
                try await uploadAuthorization(request)
            }
        if case .refused = limiter.admit(authorization.caller.id, at: clock().milliseconds) {
            throw .rateLimited
        }
        let id = newContentID()
        return UploadAuthorization(
            owner: UploadOwner(
                application: authorization.application.uuid, user: authorization.caller.user?.text),
            contentID: id.uuid,
            fields: [("Parley-Content-Id", IdentifierJSON.text(id, in: .content))],
            requestOwner: authorization.owner)
    }

    private func uploadAuthorization(
        _ token: SessionToken, _ request: Request
    ) async throws(UploadError) -> Authorization {
        do {
            if let grant = try await store.authenticateSession(token.bytes) {
                return Authorization(grant)
            }
            let nonce = try await store.newNonce()
            throw UploadError.unauthenticated(
                APIError(SessionToken.Problem.unknown, nonce: nonce).message, nonce: nonce)
        } catch let error as UploadError {
            throw error
        } catch {
            throw onFault(error, request.id) == .unavailable ? .busy : .backend
        }
    }

    private func uploadAuthorization(
        _ request: Request
    ) async throws(UploadError) -> Authorization {
        let token: BearerToken
        do throws(BearerToken.Problem) {
            token = try BearerToken(request.fields)
        } catch {
            throw .unauthenticated(APIError(error).message)
        }
        let grant: Grant?
        do {
            grant = try await store.authenticate(token.secret)
        } catch {
            throw onFault(error, request.id) == .unavailable ? .busy : .backend
        }
        guard let grant else {
            throw .unauthenticated(APIError(BearerToken.Problem.unknown).message)
        }
        guard !grant.application.isSuspended, grant.token.scope >= .write else {
            throw .forbidden
        }
        return Authorization(application: grant.application.id, caller: .token(grant.token))
    }
}

extension PlatformAPI {
    /// Lists uploads for an operator.
    public func listUploads(_ query: UploadQuery) async throws -> UploadPage {
        do throws(UploadError) {
            return try await uploads.list(query)
        } catch {
            throw try APIError(error, uploads)
        }
    }

    /// Cancels the upload of a content for an operator.
    ///
    /// - Returns: Its application; `nil` if there is no such upload.
    public func cancelUpload(of contentID: String) async throws -> Application.ID? {
        do throws(UploadError) {
            return try await uploads.cancel(contentID: contentID)
                .flatMap { owner in Application.ID(uuid: owner.application) }
        } catch .gone {
            throw Rejection.objectDeleted
        } catch .inUse {
            throw APIError(.invalidOperation, "A message uses the content of this upload.")
        } catch {
            throw try APIError(error, uploads)
        }
    }
}
