extension ClientRequest {
    /// Whether it can be sent as it is: no URL and no field may end its line and begin another.
    ///
    /// - Throws: `invalidRequest`.
    func check() throws(HTTPClientError) {
        guard url.hasPrefix("http://") || url.hasPrefix("https://") else {
            throw HTTPClientError(.invalidRequest, "the URL is neither http nor https")
        }
        guard url.utf8.allSatisfy({ octet in octet > 0x20 && octet < 0x7F }) else {
            throw HTTPClientError(.invalidRequest, "the URL has octets to be percent-encoded")
        }
        for field in fields {
            let isWhole = (field.name + field.value).utf8.allSatisfy { octet in
                octet >= 0x20 && octet != 0x7F || octet == 0x09
            }
            guard isWhole, !field.name.isEmpty else {
                throw HTTPClientError(
                    .invalidRequest, "the field \(field.name) has a control character")
            }
        }
    }
}
