/// One page of the parts of a multipart upload (`ListPartsResult`, §10.3).
struct PartPage {
    /// In ascending order of their numbers.
    var parts: [ObjectPart] = []
    /// Whether parts carry their CRC-32C (§10.4).
    var isSummed = false
    /// Where the next page begins; `nil` on the last.
    var next: Int?

    /// - Parameter marker: Where this page begins; what it lists stands behind, so a store that
    ///   repeats itself is noticed.
    init(_ octets: [UInt8], after marker: Int) throws(XMLFault) {
        var reader = try XMLReader(octets)
        try reader.enter("ListParts")
        var isTruncated = false
        var nextMarker: Int?
        while let name = try reader.child() {
            switch name {
            case "Part": parts.append(try Self.part(&reader))
            case "ChecksumAlgorithm": isSummed = try reader.text() == ObjectStore.sum.value
            case "IsTruncated": isTruncated = try reader.claim()
            case "NextPartNumberMarker": nextMarker = Int(try reader.number())
            default: try reader.pass()
            }
        }
        try reader.finish()
        var last = marker
        for part in parts {
            guard part.number > last, part.number <= ObjectPart.mostParts else {
                throw .meaningless("parts are not in order")
            }
            last = part.number
        }
        guard isTruncated else { return }
        guard let nextMarker, nextMarker == last, last > marker else {
            throw .meaningless("the next page begins nowhere")
        }
        next = nextMarker
    }

    private static func part(_ reader: inout XMLReader) throws(XMLFault) -> ObjectPart {
        var (number, size): (Int64?, Int64?) = (nil, nil)
        var (tag, sum): (String?, String?) = (nil, nil)
        while let name = try reader.child() {
            switch name {
            case "PartNumber": number = try reader.number()
            case "Size": size = try reader.number()
            case "ETag": tag = try reader.text()
            case "ChecksumCRC32C": sum = try reader.text()
            default: try reader.pass()
            }
        }
        guard let number = number.flatMap(Int.init(exactly:)), number > 0, let size,
            let tag, !tag.isEmpty
        else { throw .meaningless("a part lacks its number, size or ETag") }
        var part = ObjectPart(number: number, size: size, tag: tag)
        part.sum = sum
        return part
    }
}
