#if canImport(Darwin)
    internal import Foundation

    /// The protection of the files of a store while the device is locked (K9). On Apple platforms only.
    enum FileProtection {
        /// Lets files be read after the first unlock since the device has started, as a client in the background needs it.
        /// Files that are made later in the folder inherit this.
        static func set(on folder: String) throws(ParleyError) {
            do {
                try FileManager.default.setAttributes(
                    [.protectionKey: FileProtectionType.completeUntilFirstUserAuthentication],
                    ofItemAtPath: folder)
            } catch {
                throw ParleyError(
                    .storeUnavailable, "The store \(folder) cannot be protected: \(error).")
            }
        }
    }
#endif
