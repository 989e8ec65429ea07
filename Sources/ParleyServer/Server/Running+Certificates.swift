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
            switch result {
            case .success: logger.notice("certificates reloaded")
            case .failure(let fault):
                logger.error("certificates not reloaded", metadata: ["cause": "\(fault)"])
            }
        }
    }
}
