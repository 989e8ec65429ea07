import HTTP

/// What a proxy writes before all else (H202).
enum ProxyHeaders {
    static func check(_ input: [UInt8]) {
        let whole = ProxyHeader.read(input.span)
        for count in 0..<min(input.count, ProxyHeader.maximumSize) {
            let shown = input[..<count]
            let part = ProxyHeader.read(shown.span)
            switch whole {
            case .complete(let size, _) where count >= size:
                law("what follows a header changes nothing", part == whole)
            case .complete: law("a header is not complete before its end", part == .incomplete)
            case .incomplete: law("the beginning of a beginning is one", part == .incomplete)
            case .invalid: law("a fault stays a fault", part == .incomplete || part == .invalid)
            }
        }
        if case .complete(let size, _) = whole {
            law("a header ends in what was shown", (16...input.count).contains(size))
            law("… and is bounded (H202)", size <= ProxyHeader.maximumSize)
        }
    }
}
