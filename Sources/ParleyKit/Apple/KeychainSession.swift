#if canImport(Security)
    internal import Foundation
    internal import Security

    /// The session of a store in the keychain of this device, readable after the first unlock (K9). On Apple platforms only.
    ///
    /// The keychain outlives the application, and the path of the store changes with its updates. So a file in the store
    /// names the item, by a random id.
    struct KeychainSession: SessionStorage {
        private static let service = "parley.kit"
        private static let nameOfFile = "session-item"
        private let folder: String

        /// - Parameter folder: The folder of the store.
        init(in folder: String) { self.folder = folder }

        func read() async throws(ParleyError) -> StoredSession? {
            guard let item = try item(creating: false) else { return nil }
            var query = Self.query(item)
            query[kSecReturnData] = true
            query[kSecReturnAttributes] = true
            query[kSecMatchLimit] = kSecMatchLimitOne
            var found: CFTypeRef?
            let status = SecItemCopyMatching(query as CFDictionary, &found)
            if status == errSecItemNotFound { return nil }
            guard status == errSecSuccess else { throw Self.error(status) }
            guard let members = found as? [String: Any],
                let bytes = members[kSecValueData as String] as? Data,
                let user = members[kSecAttrGeneric as String] as? Data
            else { return nil }
            return StoredSession(
                user: UserID(String(decoding: user, as: UTF8.self)),
                token: String(decoding: bytes, as: UTF8.self))
        }

        func write(_ session: StoredSession) async throws(ParleyError) {
            guard let item = try item(creating: true) else { return }
            let values: [CFString: Any] = [
                kSecValueData: Data(session.token.utf8),
                kSecAttrGeneric: Data(session.user.text.utf8),
                kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
            ]
            var status = SecItemUpdate(
                Self.query(item) as CFDictionary, values as CFDictionary)
            if status == errSecItemNotFound {
                let added = Self.query(item).merging(values) { _, new in new }
                status = SecItemAdd(added as CFDictionary, nil)
            }
            guard status == errSecSuccess else { throw Self.error(status) }
        }

        func delete() async throws(ParleyError) {
            guard let item = try item(creating: false) else { return }
            let status = SecItemDelete(Self.query(item) as CFDictionary)
            guard status == errSecSuccess || status == errSecItemNotFound else {
                throw Self.error(status)
            }
        }

        private static func query(_ item: String) -> [CFString: Any] {
            [
                kSecClass: kSecClassGenericPassword, kSecAttrService: service,
                kSecAttrAccount: item, kSecUseDataProtectionKeychain: true,
            ]
        }

        private static func error(_ status: OSStatus) -> ParleyError {
            // Before the first unlock of the device nothing can be read; it can later.
            ParleyError(
                .storeUnavailable, "The keychain answered \(status).",
                isTransient: status == errSecInteractionNotAllowed)
        }

        /// The id of the item; `nil` if there is none yet.
        private func item(creating: Bool) throws(ParleyError) -> String? {
            let url = URL(filePath: folder).appending(path: Self.nameOfFile)
            if let text = try? String(contentsOf: url, encoding: .utf8),
                UUID(uuidString: text) != nil
            {
                return text
            }
            guard creating else { return nil }
            let item = UUID().uuidString
            do {
                try Data(item.utf8).write(
                    to: url,
                    options: [.atomic, .completeFileProtectionUntilFirstUserAuthentication])
                return item
            } catch {
                throw ParleyError(.storeUnavailable, "The store cannot be written: \(error).")
            }
        }
    }
#endif
