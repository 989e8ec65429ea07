internal import Base64
public import Blobs

/// The keys that sign download URLs: the first signs, each of them is believed.
///
/// Two from the start, so that one can be replaced while URLs of the other still live.
public struct SigningKeys: Sendable {
    struct Key: Sendable, Equatable {
        let id: String
        let secret: [UInt8]
    }

    let keys: [Key]

    /// Why there are no keys.
    public enum Fault: Error, Sendable {
        /// The file could not be read or written.
        case disk(DiskError)
        /// The file holds something else; it is left as it is for a person to look at.
        case unreadable
        /// The system has no randomness.
        case noRandomness
    }

    /// Reads the keys of a data folder, making two on the first start. Waits for the disk.
    ///
    /// The file is called `download-keys`, readable by its owner alone; each line is a key's id and
    /// its 32 bytes in base64url.
    public static func load(folder: String) throws(Fault) -> SigningKeys {
        do {
            guard let name = BlobName("download-keys") else { throw Fault.unreadable }
            let file = try SecretFile(folder: folder, name: name)
            if let bytes = try file.read() {
                guard let keys = SigningKeys(stored: bytes) else { throw Fault.unreadable }
                return keys
            }
            let keys = try SigningKeys.random()
            try file.write(keys.stored)
            return keys
        } catch let error as DiskError {
            throw .disk(error)
        } catch let fault as Fault {
            throw fault
        } catch {
            throw .noRandomness
        }
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

    init?(stored bytes: [UInt8]) {
        var keys: [Key] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            guard words.count == 2, let secret = Base64.decodeForURL(words[1]), secret.count == 32
            else { return nil }
            keys.append(Key(id: String(words[0]), secret: secret))
        }
        guard !keys.isEmpty else { return nil }
        self.keys = keys
    }

    var stored: [UInt8] {
        keys.flatMap { key in Array("\(key.id) \(Base64.encodeForURL(key.secret))\n".utf8) }
    }

    func key(_ id: String) -> Key? { keys.first { $0.id.utf8.elementsEqual(id.utf8) } }
}
