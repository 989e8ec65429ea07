import FoundationEssentials
import TestSupport
import Testing

@testable import UploadClient

@Suite struct `The memo of an upload` {
    private let folder = TemporaryFolder()
    private let place = UploadMemo.Place(url: "http://a/uploads/b", content: "layer:///content/c")

    private var name: String { "\(folder.path)/cache/uploads" }

    @Test func `says where to go on, until it is forgotten`() throws {
        let memo = try UploadMemo(of: "film", in: name)
        #expect(memo.place == nil)
        try memo.keep(UploadMemo.Place(url: place.url + "/longer", content: place.content))
        try memo.keep(place)
        #expect(memo.place == place)
        memo.forget()
        #expect(try FileManager.default.contentsOfDirectory(atPath: name).isEmpty)
    }

    @Test func `is had by one at a time, and by the next when he lets go`() throws {
        do {
            let memo = try UploadMemo(of: "film", in: name)
            try memo.keep(place)
            #expect(throws: UploadFailure.self) { try UploadMemo(of: "film", in: name) }
            #expect(try UploadMemo(of: "another film", in: name).place == nil)
        }
        #expect(try UploadMemo(of: "film", in: name).place == place)
    }

    @Test(arguments: 0..<54) func `counts only when it was written whole`(length: Int) throws {
        try UploadMemo(of: "film", in: name).keep(place)
        let file = try #require(try FileManager.default.contentsOfDirectory(atPath: name).first)
        let whole = try #require(FileManager.default.contents(atPath: "\(name)/\(file)"))
        #expect(whole.count == 54)
        try Data(whole.prefix(length)).write(to: URL(filePath: "\(name)/\(file)"))
        #expect(try UploadMemo(of: "film", in: name).place == nil)
    }
}
