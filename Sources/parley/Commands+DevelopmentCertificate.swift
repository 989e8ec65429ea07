import ArgumentParser
import ParleyServer

struct DevelopmentCertificate: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dev-cert",
        abstract: "Makes a certificate for trying TLS on this machine, and says how to use it.")

    @Option(help: "The folder for cert.pem and key.pem.") var out: String
    @Option(help: "A further name or address it is good for, as often as needed.")
    var host: [String] = []

    func run() async throws {
        throw ExitCode(
            await Command.run {
                try Command.makeDevelopmentCertificate(in: out, hosts: host)
            })
    }
}
