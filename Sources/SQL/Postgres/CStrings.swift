/// Lends texts as an array of C strings that ends in `NULL`.
func withCStrings<Value>(
    _ texts: [String], _ body: (UnsafePointer<UnsafePointer<CChar>?>?) -> Value
) -> Value {
    var (bytes, starts): ([CChar], [Int]) = ([], [])
    for text in texts {
        starts.append(bytes.count)
        bytes += text.utf8CString
    }
    return unsafe bytes.withUnsafeBufferPointer { bytes in
        let pointers = unsafe starts.map { start in
            unsafe bytes.baseAddress.map { unsafe $0 + start }
        }
        return unsafe body(pointers + [nil])
    }
}
