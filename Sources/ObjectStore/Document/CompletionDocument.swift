/// `<CompleteMultipartUpload>`: the parts an object is made of (§10.3).
enum CompletionDocument {
    /// Parts in ascending order; tags come from the store and are escaped all the same.
    static func octets(_ parts: [ObjectPart]) -> [UInt8] {
        var text = "<CompleteMultipartUpload xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\">"
        for part in parts {
            text += "<Part><PartNumber>\(part.number)</PartNumber><ETag>\(escaped(part.tag))</ETag>"
            if let sum = part.sum { text += "<ChecksumCRC32C>\(escaped(sum))</ChecksumCRC32C>" }
            text += "</Part>"
        }
        text += "</CompleteMultipartUpload>"
        return Array(text.utf8)
    }

    private static func escaped(_ text: String) -> String {
        text.replacing("&", with: "&amp;").replacing("<", with: "&lt;")
            .replacing(">", with: "&gt;")
    }
}
