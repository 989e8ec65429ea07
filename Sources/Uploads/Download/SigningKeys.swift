public import Blobs
internal import Bytes
internal import HTTP

/// The keys that sign download URLs: the first key signs, all keys verify.
///
/// There are at least two, so that the first can be replaced while its URLs are still valid.
public struct SigningKeys: Sendable {
    struct Key: Sendable, Equatable {
        let id: String
        let secret: [UInt8]
        /// When the last URL it signed expires, in seconds since 1970 UTC; `nil` for keys that sign or will sign.
        fileprivate var endsAt: Int64?
    }

    let keys: [Key]

    /// Why keys cannot be loaded.
    public enum Fault: Error, Sendable {
        /// The file could not be read or written.
        case disk(DiskError)
        /// There is no file.
        case missing
        /// The file is malformed; it is left unchanged.
        case unreadable
        /// No randomness is available.
        case noRandomness
    }

    /// Loads the keys of a data folder, creating two at the first start. Waits for the disk.
    ///
    /// The file `download-keys` is readable by its owner only. Each line has a key's id, its 32 bytes in base64url
    /// and, for a retired key, the second after which it is removed.
    public static func load(folder: String) throws(Fault) -> SigningKeys {
        let file = try file(in: folder)
        if let keys = try stored(in: file) { return keys }
        let keys = try random()
        try keys.write(to: file)
        return keys
    }

    private static func file(in folder: String) throws(Fault) -> SecretFile {
        guard let name = BlobName("download-keys") else { throw .unreadable }
        do throws(DiskError) {
            return try SecretFile(folder: folder, name: name)
        } catch {
            throw .disk(error)
        }
    }

    private static func stored(in file: SecretFile) throws(Fault) -> SigningKeys? {
        let bytes: [UInt8]?
        do throws(DiskError) { bytes = try file.read() } catch { throw .disk(error) }
        guard let bytes else { return nil }
        guard let keys = SigningKeys(bytes: bytes) else { throw .unreadable }
        return keys
    }

    private func write(to file: SecretFile) throws(Fault) {
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

    /// Decodes keys; `nil` when the bytes are malformed.
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

    /// The encoded keys: one line each, as in the file.
    public var bytes: [UInt8] {
        keys.flatMap { key in
            let end = key.endsAt.map { end in " \(end)" } ?? ""
            return Array("\(key.id) \(Base64.encodeForURL(key.secret))\(end)\n".utf8)
        }
    }

    func key(_ id: String) -> Key? { keys.first { $0.id.utf8.elementsEqual(id.utf8) } }
}

extension SigningKeys {
    /// What happens to the current keys.
    public enum Rotation: Sendable, Equatable {
        /// Their URLs stay valid until a time, in milliseconds since 1970 UTC; then the keys are removed.
        case keeping(until: Int64)
        /// Their URLs are invalid at once, because a key was disclosed.
        case forgetting
    }

    /// The keys after a rotation: the second key signs, and a new key follows it.
    ///
    /// All processes already verify with the second key, so none refuses URLs that another process signs before
    /// both have reloaded.
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

    /// Rotates the keys of a data folder, durably; running processes must reload them. Waits for the disk.
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
    /// The role of a key.
    public enum Role: String, Sendable {
        /// It signs new URLs.
        case signing
        /// It signs after the next rotation.
        case next
        /// It signs no longer, but its URLs are still valid.
        case retired
    }

    /// The ids and roles of the keys, in the order of the file.
    public var ids: [(id: String, role: Role)] {
        keys.enumerated().map { place, key in
            (key.id, key.endsAt != nil ? .retired : place == 0 ? .signing : .next)
        }
    }
}

extension UploadSettings {
    /// The longest validity of a download URL, in milliseconds, including rounding and leeway.
    public var longestURLLife: Int64 { max(downloadURLTTL, 1_800_000) + 900_000 + downloadLeeway }
}
