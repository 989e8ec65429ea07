extension APIVersion {
    /// Reads the version out of an `Accept` field (platform-api §1.2).
    ///
    /// - Parameters:
    ///   - accept: The field's value; several lines joined by commas.
    ///   - family: The interface that is asked.
    /// - Returns: The version of the first media range that names one the family has, else `nil`.
    ///
    /// The type is compared without regard to case, white space may stand round `;` and `=`, and
    /// the number may be quoted: existing clients do all three.
    public init?(accept: String, of family: APIFamily = .platform) {
        // As the documentation writes it, and nearly everybody with it.
        for (text, version) in Self.usual where family == .platform && text == accept {
            self = version
            return
        }
        for range in accept.utf8.splitOutsideQuotes(at: UInt8(ascii: ",")) {
            if let version = APIVersion(mediaRange: range, family) {
                self = version
                return
            }
        }
        return nil
    }

    private static let usual = allCases.map { version in
        ("\(APIFamily.platform.mediaType); version=\(version.rawValue)", version)
    }

    private init?(mediaRange: Substring.UTF8View, _ family: APIFamily) {
        var pieces = mediaRange.splitOutsideQuotes(at: UInt8(ascii: ";"))[...]
        guard let type = pieces.popFirst(), type.trimmed.equals(family.mediaType) else {
            return nil
        }
        for piece in pieces {
            guard let equals = piece.firstIndex(of: UInt8(ascii: "=")) else { continue }
            guard piece[..<equals].trimmed.equals("version") else { continue }
            let number = piece[piece.index(after: equals)...].trimmed.unquoted
            guard let version = APIVersion(rawValue: String(Substring(number))),
                family.versions.contains(version)
            else { return nil }
            self = version
            return
        }
        return nil
    }
}

extension BidirectionalCollection<UInt8> where SubSequence == Substring.UTF8View {
    fileprivate func splitOutsideQuotes(at separator: UInt8) -> [Substring.UTF8View] {
        var isQuoted = false
        return split(omittingEmptySubsequences: false) { byte in
            if byte == UInt8(ascii: "\"") { isQuoted.toggle() }
            return byte == separator && !isQuoted
        }
    }
}

extension Substring.UTF8View {
    fileprivate var trimmed: Substring.UTF8View {
        let isBlank = { (byte: UInt8) in byte == 0x20 || byte == 0x09 }
        let head = drop(while: isBlank)
        guard let last = head.lastIndex(where: { !isBlank($0) }) else { return head }
        return head[...last]
    }

    fileprivate var unquoted: Substring.UTF8View {
        guard count >= 2, first == UInt8(ascii: "\""), last == UInt8(ascii: "\"") else {
            return self
        }
        return dropFirst().dropLast()
    }

    /// ASCII letters are equal in either case; `text` is lower case.
    fileprivate func equals(_ text: String) -> Bool {
        elementsEqual(text.utf8) { mine, theirs in
            (mine >= 0x41 && mine <= 0x5A ? mine | 0x20 : mine) == theirs
        }
    }
}
