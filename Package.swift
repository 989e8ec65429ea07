// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// Compiler settings of every target.
let testSettings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// Compiler settings of the product. It marks each use of a pointer as `unsafe`; tests need not.
///
/// Release builds leave out the run-time checks of exclusive access: they cost 3 % of a small request.
/// Debug and sanitizer builds keep them.
let settings: [SwiftSetting] =
    testSettings + [
        .strictMemorySafety(),
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
    ]

func module(
    _ name: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = [],
    exclude: [String] = [], plugins: [Target.PluginUsage] = []
) -> Target {
    .target(
        name: name, dependencies: dependencies, exclude: exclude, swiftSettings: settings + more,
        plugins: plugins)
}

/// Small generic types such as `Identifier<Subject>` are specialised where they are used. Without this
/// setting each access goes through run-time generics.
let inlined: [SwiftSetting] = [
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
]

/// These modules take most of the time of tests that are not optimised, so debug builds optimise them, too.
/// Assertions stay.
let optimized: [SwiftSetting] = [
    .unsafeFlags(["-O", "-assert-config", "Debug"], .when(configuration: .debug))
]

func tests(
    of name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.byName(name: name), "TestSupport"] + dependencies,
        exclude: exclude,
        swiftSettings: testSettings
    )
}

let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "parley",
    products: [
        .executable(name: "parley", targets: ["parley"]),
        .library(name: "ParleyKit", targets: ["ParleyKit"]),
        .library(name: "ParleyKitURLSession", targets: ["ParleyKitURLSession"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // System libraries.
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(name: "CPostgres"),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CCurl"),
        .systemLibrary(name: "CIntrinsics"),
        .systemLibrary(name: "CLinux"),
        .target(name: "COpenSSLSetup", dependencies: ["COpenSSL"]),
        // General modules, without messaging.
        module("SystemSupport", ["CLinux"]),
        module("Bytes", ["CIntrinsics", "COpenSSL", "COpenSSLSetup", "CZlib"], optimized),
        module("JSON", ["Bytes"], inlined + optimized),
        module("HTTP", ["Bytes", "CZlib", "SystemSupport"], inlined + optimized),
        module("WebSockets", ["Bytes", "HTTP", "SystemSupport"], inlined),
        module("HTTPTransport", ["Bytes", "CLinux", "COpenSSL", "HTTP", "SystemSupport"]),
        module("HTTPClient", ["CCurl", "HTTP", "HTTPTransport", "SystemSupport"]),
        module("SQL", ["CSQLite", "SystemSupport"], optimized),
        module("SQLPostgres", ["CLinux", "CPostgres", "SQL", "SystemSupport"]),
        module("ObjectStore", ["Bytes", "HTTP", "HTTPClient", "SystemSupport"]),
        module("Blobs", ["Bytes", "CLinux", "SystemSupport"]),
        module(
            "Uploads",
            [
                "Blobs", "Bytes", "COpenSSL", "HTTP", "HTTPClient", "JSON", "ObjectStore",
                "SystemSupport",
            ]),
        module("Transfers"),
        module("UploadClient", ["Bytes", "HTTP", "HTTPClient", "JSON", "Transfers"]),
        module("Archives", ["Bytes", "COpenSSL", "HTTP"]),
        module("Telemetry", ["Bytes", "SystemSupport", logging]),
        // Messaging: the domain, its database, its JSON.
        module("Messaging", [], inlined + optimized),
        module(
            "MessagingStore",
            ["Bytes", "COpenSSL", "Messaging", "SQL", "SystemSupport", "Uploads"],
            optimized),
        module("MessagingWire", ["Bytes", "JSON", "Messaging"], optimized),
        module(
            "ImportExport",
            [
                "Blobs", "Bytes", "JSON", "Messaging", "MessagingStore", "MessagingWire",
                "SystemSupport", "Uploads",
            ]),
        // Readers of the event log.
        module(
            "Readers",
            [
                "Archives", "Blobs", "Bytes", "HTTP", "HTTPClient", "JSON", "Messaging",
                "MessagingStore", "MessagingWire", "SystemSupport", "Uploads",
            ]),
        // Interfaces.
        module(
            "PlatformAPI",
            [
                "Blobs", "Bytes", "HTTP", "ImportExport", "JSON", "Messaging",
                "MessagingStore", "MessagingWire", "SystemSupport", "Uploads", "WebSockets",
            ], optimized),
        module(
            "Console",
            [
                "Blobs", "Bytes", "HTTP", "JSON", "Messaging", "MessagingStore", "MessagingWire",
                "PlatformAPI", "Readers", "SystemSupport", "Uploads",
            ], exclude: ["Assets"], plugins: ["EmbedFiles"]),
        // The client library.
        module(
            "ParleyKit",
            [
                "Blobs", "Bytes", "HTTP", "HTTPClient", "JSON", "Messaging", "MessagingWire", "SQL",
                "SystemSupport", "Transfers", logging,
            ]),
        // The same over URLSession, for programs that want it; on Linux it needs all of Foundation.
        module("ParleyKitURLSession", ["HTTP", "ParleyKit", "SystemSupport"]),
        // The server, assembled from its modules, and the command.
        module(
            "ParleyServer",
            [
                "Blobs", "Bytes", "CLinux", "Console", "HTTP", "HTTPTransport", "ImportExport",
                "JSON", "Messaging", "MessagingStore", "MessagingWire", "ObjectStore",
                "PlatformAPI", "Readers", "SQL", "SQLPostgres", "SystemSupport", "Telemetry",
                "UploadClient", "Uploads", logging,
            ], plugins: ["EmbedFiles"]),
        // Compiles web pages and articles into the modules that serve them.
        .plugin(
            name: "EmbedFiles", capability: .buildTool(), dependencies: ["embed-files"],
            path: "Sources/EmbedFiles/Plugin"),
        .executableTarget(
            name: "embed-files", path: "Sources/EmbedFiles/Tool", swiftSettings: settings),
        .executableTarget(
            name: "parley",
            dependencies: ["ParleyKit", "ParleyServer", "SystemSupport", arguments],
            swiftSettings: settings),
        // A server that tests start.
        .executableTarget(
            name: "parley-echo", dependencies: ["HTTP", "HTTPTransport", "WebSockets"],
            path: "Tests/Echo", swiftSettings: settings),
        // Measures the client library.
        .executableTarget(
            name: "parleykit-bench", dependencies: ["ParleyKit"], path: "Tests/KitBenchmark",
            swiftSettings: testSettings),
        // Fixtures that the tests of several modules share.
        .target(
            name: "TestSupport", dependencies: ["COpenSSL", "CPostgres", "SystemSupport"],
            path: "Tests/Support",
            exclude: [
                "objectstore.py", "parley_server.py", "postgres.py", "postgres.sh", "receiver.py",
                "server_cluster.py",
                "store.py",
            ],
            swiftSettings: testSettings + optimized),
        tests(of: "SystemSupport"),
        tests(of: "Bytes"),
        tests(of: "JSON"),
        tests(of: "HTTP", ["Bytes", "SystemSupport"]),
        tests(of: "WebSockets", ["Bytes", "HTTP", "SystemSupport"]),
        tests(of: "HTTPTransport", ["COpenSSL", "HTTP"]),
        tests(of: "HTTPClient", ["HTTP", "HTTPTransport", "SystemSupport"]),
        tests(of: "SQL", ["SQLPostgres"]),
        tests(of: "ObjectStore", ["Bytes", "HTTP", "HTTPClient", "SystemSupport"]),
        tests(of: "Blobs"),
        tests(
            of: "Uploads",
            ["Blobs", "Bytes", "HTTP", "HTTPClient", "JSON", "ObjectStore", "SystemSupport"]),
        tests(of: "UploadClient", ["SystemSupport"]),
        tests(of: "Archives"),
        tests(of: "Telemetry", [logging]),
        tests(of: "Messaging"),
        tests(of: "MessagingStore", ["Messaging", "SQL", "SQLPostgres", "Uploads"]),
        tests(of: "MessagingWire", ["JSON", "Messaging"]),
        tests(of: "ImportExport", ["Messaging"]),
        tests(
            of: "Readers",
            [
                "Blobs", "Bytes", "HTTP", "HTTPTransport", "JSON", "Messaging",
                "MessagingStore", "MessagingWire", "SQL", "SQLPostgres", "SystemSupport", "Uploads",
            ], exclude: ["Fixtures"]),
        tests(
            of: "PlatformAPI",
            [
                "Blobs", "Bytes", "HTTP", "HTTPTransport", "JSON", "Messaging", "MessagingStore",
                "MessagingWire", "SQL", "SQLPostgres", "SystemSupport", "Uploads", "WebSockets",
            ], exclude: ["Exchanges"]),
        tests(of: "Console", ["HTTP", "JSON", "MessagingWire", "SystemSupport"]),
        tests(
            of: "ParleyKit",
            [
                "Bytes", "HTTP", "JSON", "Messaging", "MessagingWire", "ParleyKitURLSession", "SQL",
                "SystemSupport", "Transfers", "parley",
            ]),
        tests(
            of: "ParleyServer",
            [
                "Bytes", "Console", "HTTP", "JSON", "Messaging", "MessagingStore", "ObjectStore",
                "Readers",
                "SQL", "SQLPostgres", "Uploads",
            ]),
    ]
)

// An image is built from the sources alone: without `Tests` the package has the product's targets only.
if !FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/Tests") {
    package.targets.removeAll { target in
        target.type == .test || target.path?.hasPrefix("Tests/") == true
    }
}

// The fuzz targets run as a test on their seeds. `Tests/Fuzz/fuzz.py` links them with libFuzzer's loop instead.
let fuzzed: [Target.Dependency] = [
    "Bytes", "HTTP", "ImportExport", "JSON", "Messaging", "MessagingWire", "ObjectStore",
    "ParleyKit", "Transfers", "Uploads", "WebSockets",
]
if Context.environment["PARLEY_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "parley-fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["fuzz.py", "Seeds", "Tests"], swiftSettings: testSettings))
} else if FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/Tests") {
    package.targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["TestSupport"], path: "Tests/Fuzz",
            exclude: ["fuzz.py", "Seeds", "Driver"], swiftSettings: testSettings))
}
