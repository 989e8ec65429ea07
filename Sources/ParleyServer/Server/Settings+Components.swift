import FoundationEssentials
import HTTP
import HTTPTransport
import Logging
import Messaging
import PlatformAPI
import Readers
import Uploads

extension Settings {
    /// The base of URLs handed out: what was said, else the first address.
    var base: String {
        if let publicURL { return publicURL }
        for address in tls.addresses {
            switch address {
            case .ipv4, .ipv6: return "https://\(address.reachable)"
            case .unix: continue
            }
        }
        for address in http.addresses {
            switch address {
            case .ipv4, .ipv6: return "http://\(address.reachable)"
            case .unix: continue
            }
        }
        return "http://localhost"
    }

    /// What conversations and messages are held to: a message is as large as its largest content may be
    /// (ruling 35).
    var messagingLimits: MessagingLimits {
        var limits = messaging
        limits.messageBytes = uploads.maxUploadSize
        return limits
    }

    /// How webhooks are sent what they are sent: only where they may be registered.
    var delivery: WebhookSettings {
        var delivery = webhooks
        delivery.targets = api.outbound
        return delivery
    }

    /// The same for answers, which trusted proxies tell of another one unless an operator has.
    var publicBase: PublicBaseURL { PublicBaseURL(base, followsProxies: publicURL == nil) }

    /// The base of upload and download URLs.
    var transferBase: PublicBaseURL {
        uploadPublicBase.map { base in PublicBaseURL(base) } ?? publicBase
    }

    /// What the transport is told: one loop per core unless somebody chose.
    var transport: ServerConfiguration {
        var configuration = http
        configuration.loops = loops ?? ProcessInfo.processInfo.activeProcessorCount
        configuration.tls = secureTransport
        return configuration
    }

    /// What the transport is told about TLS; `nil` where it is not spoken.
    var secureTransport: TLSConfiguration? {
        guard !tls.addresses.isEmpty else { return nil }
        var configuration = tls
        configuration.certificates = zip(tlsCertificates, tlsKeys).map { chain, key in
            .init(chain: chain, key: key)
        }
        configuration.strictTransportAge = strictTransportAge / 1000
        return configuration
    }

    /// The server that only redirects: of its own, so that it costs the others nothing.
    var redirectTransport: ServerConfiguration? {
        guard !redirectAddresses.isEmpty else { return nil }
        var configuration = http
        configuration.addresses = redirectAddresses
        configuration.loops = 1
        return configuration
    }

    /// The same for the listener of the metrics: one loop, because it has few and known guests.
    var metricsTransport: ServerConfiguration? {
        guard !metricsAddresses.isEmpty else { return nil }
        var configuration = http
        configuration.addresses = metricsAddresses
        configuration.loops = 1
        configuration.maximumConnections = 64
        // Whoever scrapes comes by itself, not through the balancer.
        configuration.proxyProtocol = .off
        return configuration
    }

    /// From which level on requests are logged.
    var accessLevel: Logger.Level { logsRequests ? logLevel : .critical }
}
