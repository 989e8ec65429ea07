import HTTPTransport

extension Command {
    /// Asks the server on this machine whether it is ready; for a container's health check.
    ///
    /// - Returns: 0 when it is.
    public static func healthCheck(_ sources: SettingsSources) throws -> Int32 {
        let settings = try settings(sources)
        guard let address = settings.http.addresses.first?.reachable else { return 1 }
        do {
            let status = try HealthProbe.status(of: address, path: "/health/ready")
            guard status == 200 else { throw StartFailure("\(address) is not ready (\(status))") }
        } catch let error as SystemError {
            throw StartFailure(
                "\(address) does not answer (\(error.reason)): is a server running there?")
        }
        return 0
    }
}
