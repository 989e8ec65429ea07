// swift-tools-version: 6.2
import Foundation
import PackageDescription

/// The house rules of the compiler: one list for every target.
let houseOfTests: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .treatAllWarnings(as: .error),
]

/// The product says `unsafe` wherever it holds a pointer; tests may hold one without saying so.
///
/// Release builds leave out the run-time checks of exclusive access: they cost 3 % of a small request,
/// and debug and sanitizer builds keep them.
let house: [SwiftSetting] =
    houseOfTests + [
        .strictMemorySafety(),
        .unsafeFlags(["-enforce-exclusivity=unchecked"], .when(configuration: .release)),
    ]

func room(_ name: String, _ dependencies: [Target.Dependency] = [], _ more: [SwiftSetting] = [])
    -> Target
{
    .target(name: name, dependencies: dependencies, swiftSettings: house + more)
}

/// Small types that all floors handle, such as `Identifier<Subject>`, are specialised where they are
/// used; without it every look at one goes through run-time generics.
let inlined: [SwiftSetting] = [
    .unsafeFlags(["-cross-module-optimization"], .when(configuration: .release))
]

func tests(
    of name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = []
) -> Target {
    .testTarget(
        name: "\(name)Tests",
        dependencies: [.byName(name: name), "TestSupport"] + dependencies,
        exclude: exclude,
        swiftSettings: houseOfTests
    )
}

let arguments = Target.Dependency.product(name: "ArgumentParser", package: "swift-argument-parser")
let logging = Target.Dependency.product(name: "Logging", package: "swift-log")

let package = Package(
    name: "parley",
    products: [
        .executable(name: "parley", targets: ["parley"])
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
    ],
    targets: [
        // General floor: knows nothing of messaging.
        .systemLibrary(
            name: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .systemLibrary(
            name: "CPostgres", pkgConfig: "libpq", providers: [.apt(["libpq-dev"])]),
        .systemLibrary(
            name: "COpenSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CZlib", pkgConfig: "zlib", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CCurl"),
        .systemLibrary(name: "CIntrinsics"),
        .systemLibrary(name: "CLinux"),
        room("Locking"),
        room("Descriptors", ["CLinux"]),
        room("Base64"),
        room("Octets"),
        room("JSON", ["Octets"], inlined),
        room("Checksums", ["CIntrinsics", "CZlib"]),
        room("Digests", ["Checksums", "COpenSSL"]),
        room("HTTP", ["Base64", "CZlib", "Checksums", "Digests", "Locking", "Octets"], inlined),
        room("HTTPTransport", ["HTTP", "CLinux", "COpenSSL", "Descriptors", "Digests", "Locking"]),
        room("HTTPClient", ["CCurl", "Descriptors", "HTTP", "HTTPTransport", "Locking"]),
        room("SQL", ["CLinux", "CSQLite", "CPostgres", "Locking"]),
        room(
            "ObjectStore",
            ["Base64", "Checksums", "Digests", "HTTP", "HTTPClient", "Locking"]),
        room("Blobs", ["Checksums", "CLinux", "Descriptors", "Locking"]),
        room(
            "Uploads",
            [
                "HTTP", "HTTPClient", "JSON", "Base64", "Blobs", "Checksums", "COpenSSL", "Digests",
                "Locking", "ObjectStore",
            ]),
        room("UploadClient", ["Digests", "HTTP", "HTTPClient", "JSON"]),
        room("Archives", ["HTTP", "COpenSSL"]),
        room("Telemetry", [logging, "Locking", "Octets"]),
        // Messaging, from its rules up to its doors.
        room("Messaging", [], inlined),
        room("MessagingStore", ["Messaging", "SQL", "Base64", "COpenSSL", "Digests", "Locking"]),
        room("MessagingWire", ["Messaging", "JSON", "Base64"]),
        room("MessagingShapes", ["Messaging", "MessagingStore", "MessagingWire", "Uploads"]),
        room(
            "Moving",
            [
                "Blobs", "Digests", "JSON", "Locking", "Messaging", "MessagingStore",
                "MessagingWire", "Uploads",
            ]),
        room(
            "Delivery",
            [
                "Archives", "Base64", "Blobs", "Checksums", "Digests", "HTTP", "HTTPClient", "JSON",
                "Locking", "Messaging", "MessagingShapes", "MessagingStore", "MessagingWire",
                "Uploads",
            ]),
        room(
            "PlatformAPI",
            [
                "Archives", "Blobs", "Checksums", "Digests", "HTTP", "JSON", "Locking", "Messaging",
                "MessagingShapes", "MessagingStore", "MessagingWire", "Moving", "Uploads",
            ]),
        // Roof.
        room(
            "ParleyServer",
            [
                "CLinux", "Digests", "HTTP", "HTTPTransport", "JSON", "Locking", "ObjectStore",
                "SQL",
                "Blobs", "Uploads", "Telemetry", "Messaging", "MessagingStore", "MessagingWire",
                "Moving", "Delivery", "PlatformAPI", "UploadClient", logging,
            ]),
        .executableTarget(
            name: "parley", dependencies: ["ParleyServer", arguments], swiftSettings: house),
        // What the tests start.
        .executableTarget(
            name: "parley-echo", dependencies: ["HTTP", "HTTPTransport"], path: "Tests/Echo",
            swiftSettings: house),
        // What tests of several rooms need.
        .target(
            name: "TestSupport", dependencies: ["COpenSSL", "CPostgres"], path: "Tests/Support",
            exclude: [
                "crowd.py", "objectstore.py", "postgres.py", "postgres.sh", "receiver.py",
                "store.py",
            ],
            swiftSettings: houseOfTests),
        tests(of: "Locking"),
        tests(of: "Descriptors"),
        tests(of: "Base64"),
        tests(of: "Octets"),
        tests(of: "Checksums"),
        tests(of: "Digests", ["Checksums"]),
        tests(of: "JSON"),
        tests(of: "HTTP", ["Checksums", "Locking"]),
        tests(of: "HTTPTransport", ["HTTP", "COpenSSL"]),
        tests(of: "HTTPClient", ["HTTP", "HTTPTransport", "Locking"]),
        tests(of: "SQL"),
        tests(of: "ObjectStore", ["Digests", "HTTP", "HTTPClient", "Locking"]),
        tests(of: "Blobs"),
        tests(
            of: "Uploads",
            ["HTTP", "HTTPClient", "JSON", "Base64", "Blobs", "Digests", "Locking", "ObjectStore"]),
        tests(of: "UploadClient", ["Locking"]),
        tests(of: "Archives"),
        tests(of: "Telemetry", [logging]),
        tests(of: "Messaging"),
        tests(of: "MessagingStore", ["Messaging", "SQL"]),
        tests(of: "MessagingWire", ["Messaging", "JSON"]),
        tests(of: "Moving", ["Messaging"]),
        tests(
            of: "Delivery",
            [
                "Archives", "Base64", "Blobs", "Digests", "HTTP", "HTTPTransport", "JSON",
                "Locking", "Messaging", "MessagingShapes", "MessagingStore", "SQL", "Uploads",
            ], exclude: ["Fixtures"]),
        tests(
            of: "PlatformAPI",
            [
                "HTTP", "HTTPTransport", "JSON", "SQL", "Blobs", "Uploads", "Messaging",
                "Locking", "MessagingShapes", "MessagingStore", "MessagingWire",
            ], exclude: ["Exchanges"]),
        tests(
            of: "ParleyServer",
            [
                "Archives", "Delivery", "HTTP", "JSON", "Messaging", "MessagingStore",
                "ObjectStore", "SQL", "Uploads",
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
    "Base64", "Digests", "HTTP", "JSON", "Messaging", "MessagingWire", "Moving", "ObjectStore",
    "Uploads",
]
if Context.environment["PARLEY_FUZZ"] != nil {
    package.targets.append(
        .executableTarget(
            name: "parley-fuzz", dependencies: fuzzed, path: "Tests/Fuzz",
            exclude: ["fuzz.py", "Seeds", "Tests"], swiftSettings: houseOfTests))
} else if FileManager.default.fileExists(atPath: "\(Context.packageDirectory)/Tests") {
    package.targets.append(
        .testTarget(
            name: "FuzzTests", dependencies: fuzzed + ["TestSupport"], path: "Tests/Fuzz",
            exclude: ["fuzz.py", "Seeds", "Driver"], swiftSettings: houseOfTests))
}
