import HTTP

extension Request {
    /// The method that counts: `PATCH` for a `POST` that says so (platform-api §1.5).
    ///
    /// Nothing else can be overridden, and no other method can carry the header (H67).
    var effectiveMethod: Method {
        guard method == .post, let override = fields["X-HTTP-Method-Override"] else {
            return method
        }
        return override.lowercased() == "patch" ? .patch : method
    }
}
