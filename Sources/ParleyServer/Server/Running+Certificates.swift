import HTTPTransport
import Logging

extension Running {
    /// Reads the certificates again whenever their files change, and says so (H165).
    ///
    /// - Returns: What must be held for as long as that is to go on; `nil` without TLS.
    func watchCertificates() -> CertificateWatch? {
        guard let configuration = settings.secureTransport else { return nil }
        let logger = log.logger("parley.tls")
        for warning in parts.server.certificateWarnings {
            logger.warning("certificate", metadata: ["warning": "\(warning)"])
        }
        return CertificateWatch(parts.server, configuration) { result in
            Self.tell(result, logger)
        }
    }

    /// Reads them again because a signal says so, changed or not (H165, H196).
    func reloadCertificates() {
        guard let configuration = settings.secureTransport else { return }
        let server = parts.server
        let result = Result { () throws(TLSFault) in try server.reload(tls: configuration) }
        Self.tell(result, log.logger("parley.tls"))
    }

    private static func tell(_ result: Result<Void, TLSFault>, _ logger: Logger) {
        switch result {
        case .success: logger.notice("certificates reloaded")
        case .failure(let fault):
            logger.error("certificates not reloaded", metadata: ["cause": "\(fault)"])
        }
    }
}
