import Glibc

/// `parley-fuzz --target=NAME [flags of libFuzzer] FOLDER…`: passes libFuzzer's inputs to one target
/// until an invariant is violated. Without a known target it prints their names.
///
/// Built only with libFuzzer's instrumentation, by `Tests/Fuzz/fuzz.py`.
@main enum FuzzDriver {
    /// The chosen target. libFuzzer calls a C function, which cannot capture it.
    nonisolated(unsafe) private static var target: FuzzTarget?

    static func main() {
        let flag = "--target="
        let name = CommandLine.arguments.first { argument in argument.hasPrefix(flag) }?
            .dropFirst(flag.count)
        target = FuzzTarget.all.first { target in target.name == name.map(String.init) }
        guard target != nil else {
            print(FuzzTarget.all.map(\.name).joined(separator: "\n"))
            exit(2)
        }
        var count = CommandLine.argc
        var arguments = CommandLine.unsafeArgv
        exit(
            runLibFuzzer(&count, &arguments) { start, count in
                FuzzDriver.target?.check(Array(UnsafeBufferPointer(start: start, count: count)))
                return 0
            })
    }
}

/// Runs libFuzzer's loop; it returns when its time is up.
@_silgen_name("LLVMFuzzerRunDriver")
private func runLibFuzzer(
    _ count: UnsafeMutablePointer<CInt>,
    _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
    _ check: @convention(c) (UnsafePointer<UInt8>?, Int) -> CInt
) -> CInt
