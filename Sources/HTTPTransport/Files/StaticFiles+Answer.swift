import Glibc
public import HTTP

extension StaticFiles {
    /// Answers a request for a file; `nil` when its path is not under the prefix.
    public func answer(to request: Request) -> Answer? {
        guard let names = names(in: request.target) else { return nil }
        switch request.method {
        case .options: return Answer(options.prefix, offer(.noContent))
        case .get, .head:
            guard !names.isEmpty else { return Answer(options.prefix, refusal(.notFound)) }
            return Answer(options.prefix) { [self] _ in await response(to: request, names) }
        default: return Answer(options.prefix, offer(.methodNotAllowed))
        }
    }

    private func response(to request: Request, _ names: [String]) async -> Response {
        do throws(SystemError) {
            return response(to: request, try await open(names, for: request), names)
        } catch {
            return refusal(Self.status(of: error))
        }
    }

    private func response(to request: Request, _ variant: Variant, _ names: [String]) -> Response {
        let file = variant.file
        let name = names[names.count - 1]
        let mediaType = MediaType(fileName: name).text
        let content = Representation(size: file.size, tag: file.tag, modified: file.modified)
        func slice(_ range: Range<Int64>) -> Content {
            range.isEmpty
                ? .none : .file(file, offset: range.lowerBound, length: Int64(range.count))
        }
        switch content.selection(
            for: request, at: Self.now, limit: options.rangeLimit,
            isCoded: variant.coding != nil)
        {
        case .whole:
            return Response(
                .ok, fields: fields(variant, mediaType), content: slice(0..<file.size))
        case .parts(let ranges):
            var generator = SystemRandomNumberGenerator()
            let partial = PartialContent(
                ranges, of: file.size, mediaType, using: &generator)
            var fields = fields(variant, partial.mediaType)
            if let place = partial.contentRange { fields.add("Content-Range", place) }
            return Response(.partialContent, fields: fields, content: partial.content(slice))
        case .notModified: return Response(.notModified, fields: fields(variant, nil))
        case .failed: return refusal(.preconditionFailed)
        case .unsatisfiable:
            var response = refusal(.rangeNotSatisfiable)
            response.fields.add("Content-Range", content.unsatisfiedRange)
            return response
        }
    }

    /// What stands on 200, 206 and, without what describes the content, 304 (H104, H106, H112).
    private func fields(_ variant: Variant, _ mediaType: String?) -> ResponseFields {
        var fields = ResponseFields()
        fields.add("ETag", variant.file.tag.text)
        fields.add("Last-Modified", HTTPDate.format(variant.file.modified))
        fields.add("Cache-Control", options.cacheControl)
        if options.hasCompressedSiblings { fields.add("Vary", "Accept-Encoding") }
        guard let mediaType else { return fields }
        fields.add("Content-Type", mediaType)
        fields.add("Referrer-Policy", "no-referrer")
        if let coding = variant.coding {
            fields.add("Content-Encoding", coding.name)
        } else {
            fields.add("Accept-Ranges", "bytes")
        }
        return fields
    }

    private func offer(_ status: Status) -> Response {
        var response = status == .noContent ? Response(.noContent) : refusal(status)
        response.fields.add("Allow", Self.methods)
        return response
    }

    private func refusal(_ status: Status) -> Response {
        var response = Response(
            status, "text/plain; charset=utf-8", Array("\(status.reason)\n".utf8))
        response.fields.add("Cache-Control", "no-store")
        if status == .serviceUnavailable { response.fields.add("Retry-After", "1") }
        return response
    }

    /// Whole seconds since 1970 UTC.
    private static var now: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_REALTIME_COARSE, &time)
        return Int64(time.tv_sec)
    }

    /// What may not be read is not told apart from what is not there.
    private static func status(of error: SystemError) -> Status {
        switch error.code {
        case ENOENT, ENOTDIR, ELOOP, EACCES, EPERM, ENAMETOOLONG, ENXIO, EISDIR: .notFound
        case EMFILE, ENFILE, ENOMEM: .serviceUnavailable
        default: .internalServerError
        }
    }
}
