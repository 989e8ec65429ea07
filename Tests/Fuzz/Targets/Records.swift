@testable import Uploads

/// Records of uploads, which are read by later versions of the server.
enum Records {
    static func check(_ input: [UInt8]) {
        guard let record = UploadRecord(input) else { return }
        let once = record.bytes
        guard let again = UploadRecord(once) else {
            fatalError("violated: a written record is read back")
        }
        invariant("a record is written the same again", again.bytes == once)
    }
}
