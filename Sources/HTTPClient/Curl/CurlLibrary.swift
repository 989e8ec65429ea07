import CCurl

// A file of the C boundary: libcurl's functions are found and called here.

/// libcurl, loaded at its first use.
@safe struct CurlLibrary: @unchecked Sendable {
    // Sendable because the table is filled in once, before anybody sees it.
    let functions: UnsafePointer<curl_library>

    /// The oldest release with all that is used, that of Ubuntu 20.04.
    private static let oldest: UInt32 = 0x07_44_00

    private static let loaded = Result { () throws(HTTPClientError) in
        let functions = UnsafeMutablePointer<curl_library>.allocate(capacity: 1)
        unsafe functions.initialize(to: curl_library())
        if let words = unsafe curl_load(functions) {
            throw HTTPClientError(
                .unavailable, unsafe "libcurl could not be loaded: \(String(cString: words))")
        }
        guard unsafe functions.pointee.global_init(CURL_GLOBAL_DEFAULT) == Int32(CURL_OK),
            let version = unsafe functions.pointee.version_info(0)
        else { throw HTTPClientError(.unavailable, "libcurl could not be started") }
        guard unsafe version.pointee.number >= oldest else {
            let text = unsafe String(cString: version.pointee.text)
            throw HTTPClientError(.unavailable, "libcurl \(text) is older than 7.68.0")
        }
        return unsafe CurlLibrary(functions: UnsafePointer(functions))
    }

    /// - Throws: `unavailable`.
    static func load() throws(HTTPClientError) -> CurlLibrary { try loaded.get() }

    /// What it says of a result.
    func words(_ result: Int32) -> String {
        let words = unsafe functions.pointee.easy_strerror(result)
        return unsafe words.map { words in unsafe String(cString: words) } ?? "error \(result)"
    }
}
