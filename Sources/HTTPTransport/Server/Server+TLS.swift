// What can be asked and changed about TLS while a server runs.
extension Server {
    /// Reads certificates, keys and bundle anew: new connections use them, others go on (H165).
    ///
    /// Blocks while files are read. Addresses, time limits and rotation stay as they were.
    /// - Throws: ``TLSFault``; then everything is as it was.
    public func reload(tls configuration: TLSConfiguration) throws(TLSFault) {
        try core.tls?.reload(configuration)
    }

    /// The certificates that new connections get (H166); none without TLS.
    public var certificates: [ServedCertificate] {
        guard let context = core.tls?.current else { return [] }
        return zip(context.configuration.certificates, context.certificates).map { files, served in
            ServedCertificate(file: files.chain, names: served.subjects, expiry: served.expiry)
        }
    }

    /// What an operator should hear about the certificates (H165).
    public var certificateWarnings: [String] { core.tls?.current.warnings ?? [] }

    /// Handshakes so far.
    public var tlsStatistics: TLSStatistics { core.tls?.statistics ?? TLSStatistics() }
}
