internal import Blobs

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
