import Console
import Messaging
import ObjectStore
import PlatformAPI

extension Console {
    /// The web pages of a server: the articles of this module, the reference of the API, and the demo.
    convenience init(_ settings: Settings, limits: MessagingLimits) {
        let reference = APIReference(limits: limits)
        let guides = EmbeddedFiles.all.map { file in
            let name = String(file.path.dropLast(".md".count))
            // The page of the guide to errors ends with every error.
            return name == "Errors"
                ? Article(name: name, markdown: "\(file.text)\n\(reference.errors())")
                : Article(name: name, markdown: file.text)
        }
        let nouns = APIReference.nouns.map { noun in
            Article(name: "api/\(noun)", path: "api/\(noun)", markdown: reference.page(of: noun))
        }
        let index = Article(name: "api", path: "api", markdown: reference.index())
        self.init(
            articles: guides + [index] + nouns, root: "ParleyServer",
            groups: [
                ArticleGroup(title: "API", articles: ["api"] + nouns.map(\.name)),
                ArticleGroup(title: "Module", articles: ["ParleyServer"]),
            ],
            showsDemo: settings.api.allowsDevelopmentLogin,
            contentOrigins: settings.contentOrigins)
    }
}

extension Settings {
    /// The origins of uploads and downloads, where they are not those of the pages.
    var contentOrigins: [String] {
        let transfers = uploadPublicBase ?? (consoleAddresses.isEmpty ? nil : base)
        return [transfers.map(Self.origin), bucket.redirects ? bucketOrigin : nil]
            .compactMap(\.self)
    }

    private var bucketOrigin: String? {
        bucket.name.map { name in
            let endpoint = Self.origin(
                of: bucket.endpoint ?? "https://s3.\(bucket.region).amazonaws.com")
            return bucket.style == .path
                ? endpoint : endpoint.replacing("://", with: "://\(name).", maxReplacements: 1)
        }
    }

    /// Scheme, host and port of a URL.
    private static func origin(of url: String) -> String {
        url.split(separator: "/", omittingEmptySubsequences: false).prefix(3)
            .joined(separator: "/")
    }
}
