import Glibc

/// `parley-fuzz --target=NAME [flags of libFuzzer] FOLDER…`: shows one parser whatever libFuzzer
/// comes up with, until a law breaks.
///
/// Built only with its instrumentation, by `Tests/Fuzz/fuzz.py`.
@main enum Fuzz {
    typealias Input = UnsafePointer<UInt8>

    /// What is fuzzed: a name, and the laws it is held to.
    static let targets: [String: @convention(c) (Input?, Int) -> CInt] = [
        "chunks": { start, count in run(start, count, Chunks.check) },
        "codings": { start, count in run(start, count, Codings.check) },
        "conditions": { start, count in run(start, count, Conditions.check) },
        "content-ranges": { start, count in run(start, count, ContentRanges.check) },
        "dates": { start, count in run(start, count, Dates.check) },
        "forwarding": { start, count in run(start, count, Forwarding.check) },
        "frames": { start, count in run(start, count, Frames.check) },
        "import-lines": { start, count in run(start, count, ImportLines.check) },
        "imported-objects": { start, count in run(start, count, ImportedObjects.check) },
        "inflation": { start, count in run(start, count, Inflation.check) },
        "json": { start, count in run(start, count, JSONTexts.check) },
        "offers": { start, count in run(start, count, Offers.check) },
        "proxy-headers": { start, count in run(start, count, ProxyHeaders.check) },
        "ranges": { start, count in run(start, count, Ranges.check) },
        "records": { start, count in run(start, count, Records.check) },
        "requests": { start, count in run(start, count, Requests.check) },
        "store-documents": { start, count in run(start, count, StoreDocuments.check) },
        "targets": { start, count in run(start, count, Targets.check) },
        "tus-fields": { start, count in run(start, count, TusFields.check) },
        "words": { start, count in run(start, count, Words.check) },
    ]

    static func main() {
        let flag = "--target="
        let name = CommandLine.arguments.first { argument in argument.hasPrefix(flag) }
        guard let target = name.flatMap({ name in targets[String(name.dropFirst(flag.count))] })
        else {
            print(targets.keys.sorted().joined(separator: "\n"))
            exit(2)
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(driver(&count, &arguments, target))
    }

    private static func run(_ start: Input?, _ count: Int, _ check: ([UInt8]) -> Void) -> CInt {
        check(Array(UnsafeBufferPointer(start: start, count: count)))
        return 0
    }
}

/// libFuzzer's loop; it comes back only when its time is up.
@_silgen_name("LLVMFuzzerRunDriver")
private func driver(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ target: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
