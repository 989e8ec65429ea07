public import Blobs
internal import Bytes
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
        guard let keys = SigningKeys(bytes: bytes) else { throw .unreadable }
        return keys
    }

    func write(to file: SecretFile) throws(Fault) {
        do throws(DiskError) { try file.write(bytes) } catch { throw .disk(error) }
    }

    /// Two new keys.
    public static func random() throws(Fault) -> SigningKeys {
        do throws(UploadError) {
            let keys = try (0..<2).map { _ throws(UploadError) in
                Key(
                    id: Base64.encodeForURL(try SecureRandom.bytes(3)),
                    secret: try SecureRandom.bytes(32))
            }
            return SigningKeys(keys: keys)
        } catch {
            throw .noRandomness
        }
    }

    init(keys: [Key]) { self.keys = keys }

    /// Reads keys as ``bytes`` says them; `nil` for anything else.
    public init?(bytes: [UInt8]) {
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
    public var bytes: [UInt8] {
        keys.flatMap { key in
            let end = key.endsAt.map { end in " \(end)" } ?? ""
            return Array("\(key.id) \(Base64.encodeForURL(key.secret))\(end)\n".utf8)
        }
    }

    func key(_ id: String) -> Key? { keys.first { $0.id.utf8.elementsEqual(id.utf8) } }
}

extension SigningKeys {
    /// What becomes of the keys that signed so far.
    public enum Rotation: Sendable, Equatable {
        /// Their URLs open until they end, in milliseconds since 1970 UTC, and then they are let go.
        case keeping(until: Int64)
        /// Their URLs open nothing any more: a key is not secret any more.
        case forgetting
    }

    /// The second key signs from now on, and a new one stands behind it.
    ///
    /// It was believed by everybody already, so nobody refuses what another process signs before both
    /// have read the keys again.
    ///
    /// - Parameter now: Milliseconds since 1970 UTC.
    public func rotated(_ rotation: Rotation, at now: Int64) throws(Fault) -> SigningKeys {
        let fresh = try SigningKeys.random().keys
        guard case .keeping(let end) = rotation, let first = keys.first else {
            return SigningKeys(keys: fresh)
        }
        var retired = first
        retired.endsAt = end / 1000
        let active = keys.dropFirst().filter { key in key.endsAt == nil }
        let old = keys.filter { key in key.endsAt.map { end in end >= now / 1000 } ?? false }
        return SigningKeys(keys: active + fresh.prefix(2 - min(active.count, 1)) + [retired] + old)
    }

    /// Rotates the keys of a data folder, durably; who signs reads them again. Waits for the disk.
    ///
    /// - Throws: ``Fault/missing`` when there are none yet.
    public static func rotate(
        _ rotation: Rotation, folder: String, at now: Int64
    ) throws(Fault) -> SigningKeys {
        let file = try file(in: folder)
        guard let keys = try stored(in: file) else { throw .missing }
        let rotated = try keys.rotated(rotation, at: now)
        try rotated.write(to: file)
        return rotated
    }
}

extension SigningKeys {
    /// What a key is there for.
    public enum Role: String, Sendable {
        /// Its URLs are handed out.
        case signing
        /// It signs after the next rotation.
        case next
        /// It signs no more, but its URLs still open.
        case retired
    }

    /// The names of the keys and what each is there for, in the order of the file.
    public var ids: [(id: String, role: Role)] {
        keys.enumerated().map { place, key in
            (key.id, key.endsAt != nil ? .retired : place == 0 ? .signing : .next)
        }
    }
}

extension UploadSettings {
    /// Longest life of a download URL from its signing on, in milliseconds: rounded up to a quarter of
    /// an hour, and honoured a little longer.
    public var longestURLLife: Int64 { max(downloadURLTTL, 1_800_000) + 900_000 + downloadLeeway }
}
