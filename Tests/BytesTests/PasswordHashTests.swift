import Bytes
import Testing

@Suite struct `Hashes of passwords` {
    @Test func `match the password with their salt`() throws {
        let salt = [UInt8](0..<16)
        let hash = try PasswordHash(of: "correct horse", salt: salt)
        #expect(try hash.matches("correct horse"))
        #expect(try !hash.matches("correct horsf"))
        #expect(try !hash.matches(""))
        #expect(try PasswordHash(of: "correct horse", salt: salt) == hash)
        #expect(try PasswordHash(of: "correct horse", salt: salt.reversed()) != hash)
    }

    @Test func `are read back from their bytes`() throws {
        let hash = try PasswordHash(of: "Zoë\u{0} 🔑", salt: [UInt8](repeating: 7, count: 16))
        let read = try #require(PasswordHash(stored: hash.bytes))
        #expect(try read.matches("Zoë\u{0} 🔑"))
        #expect(try !read.matches("Zoë"))
        #expect(PasswordHash(stored: Array(hash.bytes.dropLast())) == nil)
        #expect(PasswordHash(stored: [9] + hash.bytes.dropFirst()) == nil)
        #expect(PasswordHash(stored: []) == nil)
    }

    /// The key of `hashlib.scrypt(b"password", salt=bytes(range(16)), n=32768, r=8, p=1, maxmem=1 << 26, dklen=32)`.
    @Test func `are those of RFC 7914`() throws {
        let hash = try PasswordHash(of: "password", salt: [UInt8](0..<16))
        let key = hash.bytes.suffix(32).map { byte in
            String(byte >> 4, radix: 16) + String(byte & 15, radix: 16)
        }.joined()
        #expect(key == "2bf82378f6c4c5f8c13d9eb323452f9e37a06291fc00b2f5afae8fcad22f33e3")
    }
}
