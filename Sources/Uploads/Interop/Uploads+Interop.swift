internal import Blobs
internal import HTTP

extension Uploads {
    /// A request of dialect C to an upload (§7.6–7.10).
    func interop(_ request: Request, _ version: InteropVersion, _ name: BlobName) -> Answer {
        let words = words(version)
        let reading = Result { () throws(UploadError) in try InteropRequest(request, version) }
        let exchange = InteropExchange(
            words: words, url: base.of(request) + request.target.path,
            interim: interim(request, version))
        return work(on: name, for: request, words: { words.response($0) }) { upload, body in
            await upload.interopResponse(to: reading, exchange, body)
        }
    }

    /// A request of dialect C to the creation endpoint (§7.6).
    func interopCreation(
        _ request: Request, _ version: InteropVersion, by entrance: any UploadEntrance
    ) -> Answer {
        let words = words(version)
        guard [.post, .put].contains(request.method) else {
            return refused(words.response(.creationMethod), request)
        }
        let interim = interim(request, version)
        return creation(for: request, by: entrance, words: { words.response($0) }) {
            [self] admission, body in
            do throws(UploadError) {
                let creation = try InteropCreation(request, version)
                let new = try await create(draft(creation, request, admission), as: .ietf)
                guard let upload = try await checkOut(new.name) else { throw .notFound }
                defer { checkIn(new.name) }
                return await upload.interopResponse(
                    to: creation,
                    InteropExchange(
                        words: words, url: base.of(request) + new.path, interim: interim), body)
            } catch {
                return words.response(error)
            }
        }
    }

    private func draft(
        _ creation: InteropCreation, _ request: Request, _ admission: UploadAdmission
    ) -> UploadDraft {
        var draft = UploadDraft(
            owner: admission.owner, contentID: admission.contentID,
            mediaType: creation.append.mediaType, length: creation.append.total,
            fileName: creation.fileName, origin: Uploads.origin(request))
        draft.declared = creation.append.declared
        return draft
    }

    private func words(_ version: InteropVersion) -> InteropWords {
        InteropWords(version: version, settings: engine.settings)
    }

    /// Whether `104` may be sent: to those who named a version, over HTTP/1.1, and not through a
    /// proxy that might take it for the answer (§7.5).
    private func interim(_ request: Request, _ version: InteropVersion) -> Bool {
        guard version.named != nil, !request.isHTTP10 else { return false }
        return switch engine.settings.interim104 {
        case .on: true
        case .off: false
        case .auto: !request.isProxied
        }
    }
}
