import MessagingWire
import Testing
import Uploads

@Suite struct `The errors of uploads` {
    @Test(arguments: UploadErrorKind.allCases)
    func `have the ids and codes of the error table (ruling 32)`(kind: UploadErrorKind) throws {
        let row = try #require(
            APIErrorTable.allCases.first { $0.row.id.description == kind.rawValue })
        #expect(row.row.code == kind.code)
    }
}
