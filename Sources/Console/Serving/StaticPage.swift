import HTTP

/// A page whose HTML is an embedded file, with the paths of its scripts and style sheets filled in.
struct StaticPage: Sendable {
    private let html: [UInt8]
    private let tag: EntityTag
    private let policy: PagePolicy

    /// - Parameter path: The path of the file, such as `demo/demo.html`.
    init(_ path: String, _ assets: AssetStore, _ policy: PagePolicy) {
        let frame = EmbeddedFiles.all.first { file in file.path == path }?.text ?? ""
        html = Array(frame.split(separator: "{assets}").joined(separator: assets.root).utf8)
        // The page differs between releases only by what the hash of the assets covers.
        tag = EntityTag(opaque: assets.hash)
        self.policy = policy
    }

    /// Returns the page, or 304 if the browser has it.
    func response(to request: Request) -> Response {
        var fields = ResponseFields()
        fields.add("ETag", tag.text)
        fields.add("Cache-Control", "no-cache")
        let known = Preconditions(tag: tag, modified: nil)
        guard known.evaluate(request.method, request.fields, at: 0) != .notModified else {
            return Response(.notModified, fields: fields)
        }
        fields.add("Content-Type", "text/html; charset=UTF-8")
        policy.add(to: &fields)
        return Response(.ok, fields: fields, content: .bytes(html))
    }
}
