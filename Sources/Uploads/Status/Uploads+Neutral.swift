internal import Blobs
internal import HTTP

extension Uploads {
    /// A request that speaks no protocol: a look at the upload, or its end (§2, rule 8).
    func neutral(_ request: Request, _ name: BlobName) -> Answer {
        let method = request.method
        return work(on: name, for: request, words: jsonWords) { upload, _ in
            await upload.neutralResponse(to: method)
        }
    }
}

extension Upload {
    fileprivate func neutralResponse(to method: HTTP.Method) async -> Response {
        do throws(UploadError) {
            switch method {
            case .head: return try NeutralStatus.head(await receivedStatus())
            case .get: return try NeutralStatus.get(await receivedStatus())
            default:
                try await cancel()
                // Success has a status of its own in the dialects of the content endpoint (§5.10).
                let isQuiet = record.creation == .tus || record.creation == .ietf
                return Response(isQuiet ? .noContent : .clientClosedRequest)
            }
        } catch {
            return error.response(engine.settings)
        }
    }
}
