internal import HTTP

extension Uploads {
    /// A request of dialect A to the creation endpoint (§5.1).
    func createSession(_ request: Request, by entrance: any UploadEntrance) -> Answer {
        creation(for: request, by: entrance, words: jsonWords) { [self] admission, body in
            do throws(UploadError) {
                return try await session(request, admission, body)
            } catch {
                return error.response(engine.settings)
            }
        }
    }

    private func session(
        _ request: Request, _ admission: UploadAdmission, _ body: any RequestBody
    ) async throws(UploadError) -> Response {
        var creation = try SessionCreation(request)
        guard let octets = try await Uploads.description(body) else { return .dropped }
        try creation.take(json: octets)
        var draft = UploadDraft(
            owner: admission.owner, contentID: admission.contentID, mediaType: creation.mediaType,
            length: creation.length, fileName: creation.fileName, origin: Uploads.origin(request))
        draft.declared = creation.declared
        let upload = try await create(draft, as: .gcs)
        var response = Response(creation.status)
        response.fields.add("Location", base.of(request) + upload.path)
        return response
    }

    /// The JSON body of a creation, 64 KiB at most; `nil` when nobody is there to answer.
    private static func description(
        _ body: any RequestBody
    ) async throws(UploadError) -> [UInt8]? {
        let tooLong = UploadError.invalid(
            "The JSON body of a creation must be at most \(SessionCreation.limit) bytes; shorten its metadata."
        )
        if let length = body.length, length > SessionCreation.limit { throw tooLong }
        var octets: [UInt8] = []
        var buffer = BodyBuffer(capacity: 4096)
        while true {
            switch await body.fill(&buffer) {
            case nil: octets.append(contentsOf: buffer.octets)
            case .clean?, .over?: return octets
            case .broken(.stalled)?: throw .stalled
            case .broken(.refused(let refusal))?: throw .invalid(refusal.reason)
            case .broken?: return nil
            }
            if octets.count > SessionCreation.limit { throw tooLong }
        }
    }
}
