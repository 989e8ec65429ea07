/// Why a document is not read.
enum XMLFault: Error, Equatable {
    /// Its octets are no UTF-8, or hold control characters.
    case notText
    /// It ends in the middle.
    case truncated
    /// Something stands there that is no XML, or none a store needs.
    case refused(at: Int)
    /// It is XML, and says something else than it should.
    case meaningless(String)
}
