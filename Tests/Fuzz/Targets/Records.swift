@testable import Uploads

/// The records of uploads, which outlive the server that wrote them.
enum Records {
    static func check(_ input: [UInt8]) {
        guard let record = UploadRecord(input) else { return }
        let once = record.bytes
        guard let again = UploadRecord(once) else {
            fatalError("broken: a record written again is a record")
        }
        law("… and the same", again.bytes == once)
    }
}
