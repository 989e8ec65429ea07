import HTTP

/// The header of the PROXY protocol, which a proxy sends before a request (H202).
enum ProxyHeaders {
    static func check(_ input: [UInt8]) {
        let whole = ProxyHeader.read(input.span)
        for count in 0..<min(input.count, ProxyHeader.maximumSize) {
            let shown = input[..<count]
            let part = ProxyHeader.read(shown.span)
            switch whole {
            case .complete(let size, _) where count >= size:
                invariant("bytes after a header change nothing", part == whole)
            case .complete:
                invariant("a header is not complete before its end", part == .incomplete)
            case .incomplete:
                invariant("every prefix of an incomplete header is incomplete", part == .incomplete)
            case .invalid:
                invariant(
                    "an invalid header stays invalid", part == .incomplete || part == .invalid)
            }
        }
        if case .complete(let size, _) = whole {
            invariant("a header ends inside the input", (16...input.count).contains(size))
            invariant("a header is limited in size (H202)", size <= ProxyHeader.maximumSize)
        }
    }
}
