import Console
import FoundationEssentials
import HTTP
import HTTPTransport
import Logging
import Messaging
import PlatformAPI
import Readers
import Uploads

extension Settings {
    /// The base of all URLs: the public URL of the settings, or else the first address.
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

    /// Limits of conversations and messages: a message may be as large as the largest upload
    /// (ruling 35).
    var messagingLimits: MessagingLimits {
        var limits = messaging
        limits.messageBytes = uploads.maxUploadSize
        return limits
    }

    /// Webhook settings, with the same rule for targets as at registration.
    var delivery: WebhookSettings {
        var delivery = webhooks
        delivery.targets = api.outbound
        return delivery
    }

    /// The base of URLs in responses; trusted proxies may name another one, unless `public_url` is
    /// set.
    var publicBase: PublicBaseURL { PublicBaseURL(base, followsProxies: publicURL == nil) }

    /// The base of upload and download URLs.
    var transferBase: PublicBaseURL {
        uploadPublicBase.map { base in PublicBaseURL(base) } ?? publicBase
    }

    /// The transport's configuration: one loop per core unless `http.loops` is set.
    var transport: ServerConfiguration {
        var configuration = http
        configuration.loops = loops ?? ProcessInfo.processInfo.activeProcessorCount
        configuration.tls = secureTransport
        return configuration
    }

    /// The TLS configuration; `nil` without TLS.
    var secureTransport: TLSConfiguration? {
        guard !tls.addresses.isEmpty else { return nil }
        var configuration = tls
        configuration.certificates = zip(tlsCertificates, tlsKeys).map { chain, key in
            .init(chain: chain, key: key)
        }
        configuration.strictTransportAge = strictTransportAge / 1000
        return configuration
    }

    /// The configuration of the redirecting server: a separate server, so that it does not slow
    /// the others.
    var redirectTransport: ServerConfiguration? {
        guard !redirectAddresses.isEmpty else { return nil }
        var configuration = http
        configuration.addresses = redirectAddresses
        configuration.loops = 1
        return configuration
    }

    /// The configuration of the metrics server: one loop, because few clients use it.
    var metricsTransport: ServerConfiguration? {
        guard !metricsAddresses.isEmpty else { return nil }
        var configuration = http
        configuration.addresses = metricsAddresses
        configuration.loops = 1
        configuration.maximumConnections = 64
        // Prometheus connects directly, not through a load balancer.
        configuration.proxyProtocol = .off
        return configuration
    }

    /// The configuration of the server of the console; `nil` if the other addresses serve it.
    var consoleTransport: ServerConfiguration? {
        guard console.isEnabled, !consoleAddresses.isEmpty else { return nil }
        var configuration = http
        configuration.addresses = consoleAddresses
        configuration.loops = 1
        return configuration
    }

    /// The lowest level at which requests are logged.
    var accessLevel: Logger.Level { logsRequests ? logLevel : .critical }
}
