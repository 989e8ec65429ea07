internal import Blobs
internal import HTTP

extension Uploads {
    /// `OPTIONS` of no upload in particular: everybody may ask (§3.7).
    func discovery(_ request: Request) -> Answer {
        Answer(Uploads.route, options(request, anyOrigin))
    }

    /// `OPTIONS` of an upload: the same, for the pages its creator named; one there is none of is
    /// not told apart.
    func discovery(_ request: Request, of name: BlobName) -> Answer {
        Answer(Uploads.route, policy) { [self] _ in
            guard let upload = try? await checkOut(name) else { return options(request, anyOrigin) }
            defer { checkIn(name) }
            return options(request, await origin(of: upload))
        }
    }

    /// A preflight, or what this server can do, in the words of every dialect.
    private func options(_ request: Request, _ origin: CrossOrigin) -> Response {
        var response = origin.options(request, methods: Uploads.methods)
        if !request.fields.contains("Access-Control-Request-Method") {
            TusProtocol.describe(in: &response.fields, maxSize: engine.settings.maxUploadSize)
            response.fields.add("Upload-Limit", engine.settings.limits)
        }
        return finish(response)
    }
}
