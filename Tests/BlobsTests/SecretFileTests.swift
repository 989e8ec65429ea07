import Blobs
import Glibc
import TestSupport
import Testing

@Suite struct `A secret file` {
    private let temporary = TemporaryFolder()

    @Test func `it is readable by its owner alone and replaced whole`() throws {
        let name = try #require(BlobName("keys"))
        let file = try SecretFile(folder: temporary.path, name: name)
        #expect(try file.read() == nil)
        try file.write([1, 2])
        try file.write([3])
        #expect(try file.read() == [3])
        var status = stat()
        #expect(stat("\(temporary.path)/keys", &status) == 0)
        #expect(status.st_mode & 0o777 == 0o600)
    }
}
