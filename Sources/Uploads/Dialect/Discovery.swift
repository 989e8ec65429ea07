internal import Blobs
internal import HTTP

extension Uploads {
    /// `OPTIONS` of no upload in particular: everybody may ask (§3.7).
    func discovery(_ request: Request, _ methods: String) -> Answer {
        Answer(Uploads.route, options(request, anyOrigin, methods))
    }

    /// `OPTIONS` of an upload: the same, for the pages its creator named. `Allow` lists what the upload accepts in
    /// its state; one that is unknown, and one that has ended without a content, accept nothing else.
    func discovery(_ request: Request, of name: BlobName) -> Answer {
        Answer(Uploads.route, policy) { [self] _ in
            let upload: Upload
            do throws(UploadError) {
                guard let found = try await checkOut(name) else {
                    return options(request, anyOrigin, Uploads.noMethods)
                }
                upload = found
            } catch {
                // What cannot be looked up now may well be open.
                return options(request, anyOrigin, Uploads.methods)
            }
            defer { checkIn(name) }
            let isGone = await upload.status.state.isGone
            return options(
                request, await origin(of: upload), isGone ? Uploads.noMethods : Uploads.methods)
        }
    }

    /// A preflight, or what this server can do, in the words of every dialect.
    private func options(
        _ request: Request, _ origin: CrossOrigin, _ methods: String
    ) -> Response {
        var response = origin.options(request, methods: methods)
        if !request.fields.contains("Access-Control-Request-Method") {
            TusProtocol.describe(in: &response.fields, maxSize: engine.settings.maxUploadSize)
            response.fields.add("Upload-Limit", engine.settings.limits)
        }
        return finish(response)
    }
}
