public import HTTP

extension ObjectStore {
    /// A URL with which anybody may read an object for a while, straight from the store.
    ///
    /// Range and conditional fields may go with it.
    ///
    /// - Parameters:
    ///   - method: `GET` or `HEAD`: the store takes the URL with that one only.
    ///   - seconds: Brought into 1…604,800, which is what stores take (§10.2).
    ///   - overrides: What the store is to say of the object.
    public func presigned(
        _ key: ObjectKey, method: Method = .get, seconds: Int,
        overrides: ResponseOverrides = ResponseOverrides()
    ) -> String {
        let path = address.path(of: fullKey(key))
        let query = signer.query(
            signing: method, host: address.host, path: path, query: overrides.parameters,
            seconds: min(max(seconds, 1), 604_800), at: SigningTime(now()))
        return address.url(path: path, query: query)
    }
}
