import HTTPTransport

extension Settings {
    /// The settings of TLS, a part of the table.
    static let secure: [Setting] = [
        .addresses(
            "tls.listen", \.tls.addresses, isOptional: true,
            "Addresses where TLS is spoken, as in `http.listen`."),
        .texts(
            "tls.certificates", \.tlsCertificates,
            "PEM files: a certificate, then what leads to its root; the first one is the default."),
        .texts("tls.keys", \.tlsKeys, "PEM files of their keys, in the same order."),
        .choice(
            "tls.unknown_name", \.tls.unknownName,
            "Who asks for a name without a certificate gets the default one, or an alert."),
        .truth(
            "tls.allow_expired", \.tls.allowsExpired,
            "Whether a certificate that has expired is served all the same."),
        .choice(
            "tls.client_certificates", \.tls.clientCertificates,
            "Whether clients may or must show a certificate."),
        .file(
            "tls.client_bundle", \.tls.clientBundle,
            "PEM file of the authorities that sign those of clients."),
        .truth("tls.tickets", \.tls.hasTickets, "Whether clients may resume their sessions."),
        .number(
            "tls.ticket_rotation", \.tls.ticketRotation, .time(60_000...43_200_000),
            "How long a key seals tickets; it opens them for as long again."),
        .number(
            "tls.handshake_timeout", \.tls.handshakeTimeout, .time(1...86_400_000),
            "From accept to the end of the handshake."),
        .number(
            "tls.max_handshakes", \.tls.maximumHandshakes, .count(1...1_000_000),
            "Handshakes in progress, over all loops."),
        .number(
            "tls.max_key_updates", \.tls.maximumKeyUpdates, .count(1...1_000_000),
            "Handshake messages after the handshake without data in between."),
        .number(
            "tls.hsts_max_age", \.strictTransportAge, .time(0...63_072_000_000),
            "How long browsers remember to come by TLS only; 0 says nothing about it."),
        .addresses(
            "tls.redirect_listen", \.redirectAddresses, isOptional: true,
            "Addresses without TLS that send everybody to `public_url`."),
    ]
}
