internal import Blobs
public import HTTP

extension Uploads {
    /// Answers everything under `/uploads`.
    ///
    /// The body is read only when every check of the head has passed; the transport drains or
    /// closes on its own otherwise.
    ///
    /// - Parameter entrance: Says who may create at the creation endpoint.
    public func answer(to request: Request, by entrance: any UploadEntrance) -> Answer {
        var dialect = UploadDialect.neutral
        let answer = answer(to: request, by: entrance, in: &dialect)
        return counted(answer, as: dialect)
    }

    /// - Parameter word: What the answer is to be counted as; unchanged when its head names nothing.
    private func answer(
        to request: Request, by entrance: any UploadEntrance, in word: inout UploadDialect
    ) -> Answer {
        guard let place = UploadPlace(request.target) else {
            return request.method == .options
                ? discovery(request, Uploads.noMethods)
                : refused(jsonWords(.notFound), request)
        }
        if request.method == .options {
            guard case .resource(let name) = place else {
                return discovery(request, Uploads.creationMethods)
            }
            return discovery(request, of: name)
        }
        let dialect: Dialect
        do throws(UploadError) {
            dialect = try Dialect(request, at: place)
        } catch {
            return refused(jsonWords(error), request)
        }
        word = UploadDialect(dialect, of: request)
        switch (place, dialect) {
        case (.creation, .contentRange): return createSession(request, by: entrance)
        case (.resource(let name), .contentRange): return contentRange(request, name)
        case (.resource(let name), .neutral): return neutral(request, name)
        case (.creation, .tus(let method)): return tusCreation(request, method, by: entrance)
        case (.resource(let name), .tus(let method)): return tus(request, method, name)
        case (.creation, .interop(let version)):
            return interopCreation(request, version, by: entrance)
        case (.resource(let name), .interop(let version)): return interop(request, version, name)
        case (.creation, .neutral): return refused(jsonWords(.creationMethod), request)
        }
    }

    /// An answer from the head alone, with the fields every answer carries.
    func refused(_ response: Response, _ request: Request) -> Answer {
        Answer(Uploads.route, finish(response, anyOrigin, request))
    }
}
