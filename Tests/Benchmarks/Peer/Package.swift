// swift-tools-version: 6.2
import PackageDescription

// A server that is compared with Parley. The benchmark builds it in a separate folder, so the product
// does not depend on Hummingbird.
let package = Package(
    name: "Peer",
    platforms: [.macOS(.v14)],
    dependencies: [
        .package(url: "https://github.com/hummingbird-project/hummingbird", exact: "2.28.1")
    ],
    targets: [
        .executableTarget(
            name: "Peer", dependencies: [.product(name: "Hummingbird", package: "hummingbird")])
    ]
)
