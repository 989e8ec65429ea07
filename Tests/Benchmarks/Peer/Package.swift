// swift-tools-version: 6.2
import PackageDescription

// A server to be measured beside ours, built by the benchmark in a folder of its own. Nothing of it
// is in the product's graph.
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
