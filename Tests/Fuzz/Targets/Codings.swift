@testable import HTTP

/// `Accept-Encoding`, and lists in headers (H30, H111).
enum Codings {
    static func check(_ input: [UInt8]) {
        let text = String(decoding: input, as: UTF8.self)
        if let elements = FieldList.elements(of: text) {
            invariant("at most 256 elements (H57)", elements.count <= 256)
            let again = FieldList.elements(of: elements.joined(separator: ", "))
            invariant("a list written again is the same", again == elements)
        }
        let fields = Fields([("Accept-Encoding", text)])
        if let coding = ContentCoding.preferred(by: fields) {
            let named = text.lowercased()
            invariant(
                "the coding was accepted (H111)",
                named.contains(coding.name) || named.contains("*"))
        }
    }
}
