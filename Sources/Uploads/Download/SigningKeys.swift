internal import Base64
public import Blobs
internal import HTTP

/// The keys that sign download URLs: the first signs, each of them is believed.
///
/// Two from the start, so that one can be replaced while URLs of the other still live.
public struct SigningKeys: Sendable {
    struct Key: Sendable, Equatable {
        let id: String
        let secret: [UInt8]
        /// When the last URL it signed has ended, in seconds since 1970 UTC; `nil` while it signs or
        /// will sign.
        var endsAt: Int64?
    }

    let keys: [Key]

    /// Why there are no keys.
    public enum Fault: Error, Sendable {
        /// The file could not be read or written.
        case disk(DiskError)
        /// There is no file.
        case missing
        /// The file holds something else; it is left as it is for a person to look at.
        case unreadable
        /// The system has no randomness.
        case noRandomness
    }

    /// Reads the keys of a data folder, making two on the first start. Waits for the disk.
    ///
    /// The file is called `download-keys`, readable by its owner alone; each line is a key's id, its
    /// 32 bytes in base64url and, of one that signs no more, the second in which it is let go.
    public static func load(folder: String) throws(Fault) -> SigningKeys {
        let file = try file(in: folder)
        if let keys = try stored(in: file) { return keys }
        let keys = try random()
        try keys.write(to: file)
        return keys
    }

    static func file(in folder: String) throws(Fault) -> SecretFile {
        guard let name = BlobName("download-keys") else { throw .unreadable }
        do throws(DiskError) {
            return try SecretFile(folder: folder, name: name)
        } catch {
            throw .disk(error)
        }
    }

    static func stored(in file: SecretFile) throws(Fault) -> SigningKeys? {
        let bytes: [UInt8]?
        do throws(DiskError) { bytes = try file.read() } catch { throw .disk(error) }
        guard let bytes else { return nil }
        guard let keys = SigningKeys(octets: bytes) else { throw .unreadable }
        return keys
    }

    func write(to file: SecretFile) throws(Fault) {
        do throws(DiskError) { try file.write(octets) } catch { throw .disk(error) }
    }

    /// Two new keys.
    public static func random() throws(Fault) -> SigningKeys {
        do throws(UploadError) {
            let keys = try (0..<2).map { _ throws(UploadError) in
                Key(
                    id: Base64.encodeForURL(try Randomness.bytes(3)),
                    secret: try Randomness.bytes(32))
            }
            return SigningKeys(keys: keys)
        } catch {
            throw .noRandomness
        }
    }

    init(keys: [Key]) { self.keys = keys }

    /// Reads keys as ``octets`` says them; `nil` for anything else.
    public init?(octets bytes: [UInt8]) {
        var keys: [Key] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard (2...3).contains(words.count), let secret = Base64.decodeForURL(words[1]),
                secret.count == 32
            else { return nil }
            var key = Key(id: String(words[0]), secret: secret)
            if words.count == 3 {
                guard let end = Int64(decimal: words[2].utf8) else { return nil }
                key.endsAt = end
            }
            keys.append(key)
        }
        guard let first = keys.first, first.endsAt == nil else { return nil }
        self.keys = keys
    }

    /// A line for each key, as in the file.
    public var octets: [UInt8] {
        keys.flatMap { key in
            let end = key.endsAt.map { end in " \(end)" } ?? ""
            return Array("\(key.id) \(Base64.encodeForURL(key.secret))\(end)\n".utf8)
        }
    }

    func key(_ id: String) -> Key? { keys.first { $0.id.utf8.elementsEqual(id.utf8) } }
}
