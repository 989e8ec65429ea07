extension String {
    /// Bytes as lower-case hexadecimal digits.
    public init(hexadecimal bytes: some Sequence<UInt8>) {
        let digits = Array("0123456789abcdef".utf8)
        let text = bytes.flatMap { byte in [digits[Int(byte >> 4)], digits[Int(byte & 15)]] }
        self.init(decoding: text, as: UTF8.self)
    }
}
