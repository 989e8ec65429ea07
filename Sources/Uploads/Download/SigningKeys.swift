public import Blobs
internal import Bytes
internal import HTTP

/// The keys that sign download URLs: the first key signs, and URLs of retired keys are valid until they expire.
///
/// There are at least two, so that the first can be replaced while its URLs are still valid. Retired keys are never
/// removed, because the URLs in past events are signed again at each reading and keep their bytes (ruling 27).
public struct SigningKeys: Sendable {
    /// A key and the time in which it signs. Times are in milliseconds since 1970 UTC.
    struct Key: Sendable, Equatable {
        let id: String
        let secret: [UInt8]
        /// The time from which it signs, until a later key does; `nil` when it signs after the next rotation.
        var signsFrom: Int64?
        /// The time until which its URLs are accepted; `nil` unless it is retired.
        var endsAt: Int64?

        /// Whether a URL that it signed may be valid.
        func isAccepted(at now: Int64) -> Bool { endsAt.map { end in now <= end } ?? true }
    }

    /// How long URLs that are signed from a time on are valid. Times are in milliseconds, those of a day since 1970 UTC.
    struct Lifetime: Sendable, Equatable {
        let milliseconds: Int64
        let since: Int64
    }

    let keys: [Key]
    /// The lifetimes of URLs, newest first. Earlier ones are never removed: the URLs in past events keep their
    /// expiry when the setting changes (ruling 27).
    private var lifetimes: [Lifetime] = []

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
    /// The file `download-keys` is readable by its owner only. Each key is a line: its id, its 32 bytes in base64url,
    /// the time from which it signs, and for a retired key the time until which its URLs are accepted. A line
    /// `lifetime` has a number of milliseconds, and the time from which new URLs are valid that long.
    public static func load(folder: String) throws(Fault) -> SigningKeys {
        let file = try file(in: folder)
        if let keys = try stored(in: file) { return keys }
        let keys = try random()
        try keys.write(to: file)
        return keys
    }

    /// Replaces the keys of a data folder, durably. Waits for the disk.
    public func store(folder: String) throws(Fault) {
        try write(to: try Self.file(in: folder))
    }

    /// Checks the keys of a data folder without creating any; without a file there is nothing to check.
    public static func check(folder: String) throws(Fault) {
        let bytes: [UInt8]
        do throws(DiskError) {
            bytes = try BlobFile(at: "\(folder)/download-keys").read(64 << 10, at: 0)
        } catch {
            guard error.kind != .missing else { return }
            throw .disk(error)
        }
        guard SigningKeys(bytes: bytes) != nil else { throw .unreadable }
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
            return SigningKeys(keys: [try Key.random(signsFrom: 0), try Key.random()])
        } catch {
            throw .noRandomness
        }
    }

    init(keys: [Key], lifetimes: [Lifetime] = []) {
        self.keys = keys
        self.lifetimes = lifetimes
    }

    /// Decodes keys; `nil` when the bytes are malformed.
    public init?(bytes: [UInt8]) {
        var keys: [Key] = []
        for line in String(decoding: bytes, as: UTF8.self).split(separator: "\n") {
            let words = line.split(separator: " ")
            // No key has an id of this length.
            if words.first == "lifetime" {
                let numbers = words.dropFirst().compactMap { word in Int64(decimal: word.utf8) }
                guard words.count == 3, numbers.count == 2 else { return nil }
                lifetimes.append(Lifetime(milliseconds: numbers[0], since: numbers[1]))
                continue
            }
            guard (2...4).contains(words.count), let secret = Base64.decodeForURL(words[1]),
                secret.count == 32
            else { return nil }
            let times = words[2...].map { word in Int64(decimal: word.utf8) }
            guard !times.contains(nil) else { return nil }
            keys.append(
                Key(
                    id: String(words[0]), secret: secret, signsFrom: times.first ?? nil,
                    endsAt: times.count == 2 ? times[1] : nil))
        }
        guard let first = keys.first, first.signsFrom != nil, first.endsAt == nil else {
            return nil
        }
        self.keys = keys
    }

    /// The encoded keys and lifetimes: one line each, as in the file.
    public var bytes: [UInt8] {
        keys.flatMap { key in
            let times = [key.signsFrom, key.endsAt].compactMap { time in time.map { " \($0)" } }
            return Array(
                "\(key.id) \(Base64.encodeForURL(key.secret))\(times.joined())\n".utf8)
        }
            + lifetimes.flatMap { lifetime in
                Array("lifetime \(lifetime.milliseconds) \(lifetime.since)\n".utf8)
            }
    }

    func key(_ id: String) -> Key? { keys.first { $0.id.utf8.elementsEqual(id.utf8) } }

    /// The key that signs the URLs of a moment; for a past moment always the same one.
    func signing(at now: Int64) -> Key? {
        keys.first { key in key.signsFrom.map { start in start <= now } ?? false } ?? keys.first
    }

    /// How long the URLs of a moment are valid, in milliseconds; for a past moment always the same. `nil` when no
    /// lifetime was recorded.
    func lifetime(at now: Int64) -> Int64? {
        let lifetime = lifetimes.first { lifetime in lifetime.since <= now } ?? lifetimes.last
        return lifetime?.milliseconds
    }

    /// These keys with the lifetime of URLs signed from now on; `nil` when it is the recorded one already.
    ///
    /// - Parameters:
    ///   - lifetime: In milliseconds; positive.
    ///   - now: Milliseconds since 1970 UTC.
    ///   - isShared: Whether several processes use the keys: then the lifetime starts after a minute, like a new key.
    public func recording(lifetime: Int64, at now: Int64, isShared: Bool) -> SigningKeys? {
        guard lifetimes.first?.milliseconds != lifetime else { return nil }
        // The first lifetime applies to all earlier moments, too.
        let since = lifetimes.first.map { last in max(last.since, now + (isShared ? Self.delay : 0))
        }
        var keys = self
        keys.lifetimes.insert(Lifetime(milliseconds: lifetime, since: since ?? 0), at: 0)
        return keys
    }
}

extension SigningKeys.Key {
    fileprivate static func random(
        signsFrom: Int64? = nil
    ) throws(UploadError) -> SigningKeys.Key {
        SigningKeys.Key(
            id: Base64.encodeForURL(try SecureRandom.bytes(3)),
            secret: try SecureRandom.bytes(32), signsFrom: signsFrom)
    }
}

extension SigningKeys {
    /// What happens to the current keys.
    public enum Rotation: Sendable, Equatable {
        /// Their URLs stay valid until a time, in milliseconds since 1970 UTC.
        case keeping(until: Int64)
        /// Their URLs are invalid at once, because a key was disclosed.
        case invalidating
    }

    /// Milliseconds between a change and the first URL of the new key or lifetime. Processes reload in that time, so that
    /// all sign the URLs of a moment with the same key and lifetime.
    static let delay: Int64 = 60_000

    /// The keys after a rotation: the second key signs after a minute, and a new key follows it. When the keys are
    /// invalidated, a new key signs at once.
    ///
    /// All processes already verify with the second key, so none refuses URLs that another process signs before
    /// both have reloaded.
    ///
    /// - Parameter now: Milliseconds since 1970 UTC.
    public func rotated(_ rotation: Rotation, at now: Int64) throws(Fault) -> SigningKeys {
        let fresh = try SigningKeys.random().keys
        var start = max(now, keys.first?.signsFrom ?? 0)
        var active = fresh
        var end: Int64 = 0
        if case .keeping(let limit) = rotation {
            start += Self.delay
            end = limit + Self.delay
            active = Array((keys.filter { key in key.signsFrom == nil } + fresh).prefix(2))
        }
        active[0].signsFrom = start
        active[1].signsFrom = nil
        let retired = keys.filter { key in key.signsFrom != nil }.map { key in
            var key = key
            key.endsAt = min(key.endsAt ?? .max, end)
            return key
        }
        return SigningKeys(keys: active + retired, lifetimes: lifetimes)
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

    /// The ids and roles of the keys whose URLs are accepted at a time, in the order of the file.
    ///
    /// - Parameter now: Milliseconds since 1970 UTC.
    public func ids(at now: Int64) -> [(id: String, role: Role)] {
        keys.filter { key in key.isAccepted(at: now) }.map { key in
            (key.id, key.endsAt != nil ? .retired : key.signsFrom != nil ? .signing : .next)
        }
    }
}

extension UploadSettings {
    /// The longest validity of a download URL, in milliseconds, including rounding and leeway.
    public var longestURLLife: Int64 { max(downloadURLTTL, 1_800_000) + 900_000 + downloadLeeway }
}
