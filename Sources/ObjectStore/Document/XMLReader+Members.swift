internal import HTTP

extension XMLReader {
    /// The text of the one member that counts of an answer to an operation.
    ///
    /// - Throws: ``XMLFault/meaningless(_:)`` for an answer to something else, and when the member is not
    ///   there or empty.
    static func member(
        _ wanted: String, of operation: String, _ octets: [UInt8]
    ) throws(XMLFault) -> String {
        var reader = try XMLReader(octets)
        try reader.enter(operation)
        var member = ""
        while let name = try reader.child() {
            if name == wanted {
                member = try reader.text()
            } else {
                try reader.pass()
            }
        }
        try reader.finish()
        guard !member.isEmpty else { throw .meaningless("it has no \(wanted)") }
        return member
    }

    /// Goes into the first element of an answer to an operation: S3 calls it the operation's `Result`, a
    /// few stores its `Response`.
    mutating func enter(_ operation: String) throws(XMLFault) {
        guard ["\(operation)Result", "\(operation)Response"].contains(try root()) else {
            throw .meaningless("it is no \(operation)Result")
        }
    }

    /// The text of the element we are in as a number from 0 on.
    mutating func number() throws(XMLFault) -> Int64 {
        let text = try text()
        guard let number = Int64(decimal: text.utf8) else {
            throw .meaningless("something there is no number")
        }
        return number
    }

    /// The text of the element we are in as a claim.
    mutating func claim() throws(XMLFault) -> Bool {
        switch try text() {
        case "true": true
        case "false": false
        default: throw .meaningless("something there is neither true nor false")
        }
    }
}
