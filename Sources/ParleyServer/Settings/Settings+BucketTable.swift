extension Settings {
    /// The settings of the bucket, a part of the table.
    static let bucketTable: [Setting] = [
        .file(
            "s3.bucket", \.bucket.name,
            "Bucket that contents lie in, which must exist; none: the data folder."),
        .url(
            "s3.endpoint", \.bucket.endpoint,
            "URL of the store that speaks S3; none: Amazon's of `s3.region`."),
        .text("s3.region", \.bucket.region, "Region that requests are signed for."),
        .file(
            "s3.prefix", \.bucket.prefix, "What every key begins with, such as `parley/`."),
        .choice(
            "s3.style", \.bucket.style,
            "Where the bucket's name stands in URLs: `path`, or `virtual-host`."),
        .credential("s3.access_key", \.bucket.accessKey, "Who asks the store."),
        .file(
            "s3.access_key_file", \.bucket.accessKeyFile,
            "File that holds such a key and nothing else."),
        .credential("s3.secret_key", \.bucket.secretKey, "What proves it."),
        .file(
            "s3.secret_key_file", \.bucket.secretKeyFile,
            "File that holds such a key and nothing else."),
        .credential(
            "s3.session_token", \.bucket.sessionToken,
            "Token of credentials that are good for a session only."),
        .file(
            "s3.session_token_file", \.bucket.sessionTokenFile,
            "File that holds such a token and nothing else."),
        .file(
            "s3.credentials_file", \.bucket.credentialsFile,
            "File with `aws_access_key_id` and `aws_secret_access_key` under `[default]`, instead."),
        .file(
            "s3.authorities", \.bucket.authorities,
            "PEM file of the authorities that vouch for the store; none: the system's."),
        .truth(
            "s3.unsigned_payload", \.bucket.leavesPayloadUnsigned,
            "Whether bodies are sent without their SHA-256, for speed; with TLS only."),
        .truth(
            "s3.checksums", \.bucket.sumsParts,
            "Whether parts carry their CRC-32C, for stores that know it; to be kept while uploads run."
        ),
        .truth(
            "s3.redirect", \.bucket.redirects,
            "Whether downloads are answered with 307 and a pre-signed URL of the store."),
    ]
}
