/// Text as octets: scalars below 256 become one octet each, all others their UTF-8, so that a case can
/// hold any octet and still be read.
func octets(_ text: String) -> [UInt8] {
    text.unicodeScalars.flatMap { scalar in
        scalar.value < 256 ? [UInt8(scalar.value)] : Array(String(scalar).utf8)
    }
}

/// A `GET /` with a Host and these field lines.
func get(_ lines: String...) -> String {
    (["GET / HTTP/1.1", "Host: h"] + lines).map { line in line + "\r\n" }.joined() + "\r\n"
}

/// A request with that first line and a Host.
func request(_ line: String) -> String { "\(line)\r\nHost: h\r\n\r\n" }
