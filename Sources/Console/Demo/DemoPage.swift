import HTTP

/// The demo: two users in one window, as an example of a client in a browser.
struct DemoPage: Sendable {
    private let html: [UInt8]
    private let tag: EntityTag
    private let policy: PagePolicy
    private let isOpen: Bool

    /// - Parameter isOpen: Whether the server has the login that the demo uses.
    init(_ assets: AssetStore, _ policy: PagePolicy, isOpen: Bool) {
        let frame = EmbeddedFiles.all.first { file in file.path == "demo/demo.html" }?.text ?? ""
        html = Array(frame.split(separator: "{assets}").joined(separator: assets.root).utf8)
        // The page differs between releases only by what the hash of the assets covers.
        tag = EntityTag(opaque: assets.hash)
        self.policy = policy
        self.isOpen = isOpen
    }

    func response(to request: Request) -> Response {
        guard isOpen else {
            return PagePolicy.notFound(
                "The demo exists only if the setting `api.dev_login` is true.")
        }
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
