internal import Blobs
internal import HTTP
internal import Locking

extension Uploads {
    /// Creates an upload at the creation endpoint, whatever the dialect: asks who it is, then lets
    /// the dialect do the rest.
    ///
    /// - Parameters:
    ///   - words: How the dialect says what went wrong.
    ///   - announces: Whether a success also tells what the admission has to say.
    ///   - act: Creates; it alone reads the body.
    func creation(
        for request: Request, by entrance: any UploadEntrance,
        words: @escaping @Sendable (UploadError) -> Response, announces: Bool = true,
        _ act: @escaping @Sendable (UploadAdmission, any RequestBody) async -> Response
    ) -> Answer {
        Answer(Uploads.creationRoute, policy) { [self] body in
            if isStopping.withLock({ $0 }) { return finish(words(.stalled), anyOrigin, request) }
            let admission: UploadAdmission
            do throws(UploadError) {
                admission = try await entrance.admit(request)
            } catch {
                return finish(words(error), anyOrigin, request)
            }
            var response = await act(admission, body)
            if announces, (200..<300).contains(response.status.code) {
                for field in admission.fields { response.fields.add(field.name, field.value) }
            }
            response.owner = admission.requestOwner
            return finish(response, anyOrigin, request)
        }
    }

    /// What a creation's head says of its pages (§1.2).
    static func origin(_ request: Request) -> String? {
        request.fields["Upload-Origin"] ?? request.fields["Origin"]
    }
}
