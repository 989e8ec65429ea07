public import ParleyKit

#if canImport(FoundationNetworking)
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension ParleyClient {
    /// Opens the store of a client that sends its requests with `URLSession`.
    ///
    /// Caches, cookies and redirections are switched off; whatever else the session's configuration says, such as
    /// proxies and the protocols of TLS, is obeyed.
    ///
    /// - Throws: As ``ParleyClient/init(_:)``.
    public convenience init(
        _ configuration: Configuration, session: sending URLSessionConfiguration
    ) async throws(ParleyError) {
        try await self.init(
            configuration,
            URLSessionTransport(
                server: configuration.server, transfers: configuration.concurrentTransfers, session)
        )
    }
}
