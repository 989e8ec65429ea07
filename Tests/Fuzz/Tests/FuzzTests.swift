import Glibc
import TestSupport
import Testing

/// Runs every target without libFuzzer, on its seeds and on random mutations of them, the same in every run.
/// `make fuzz` searches further, guided by coverage and under the address sanitizer.
@Suite("Fuzz targets") struct FuzzTests {
    @Test(
        "no target finds a violation in its seeds and mutations of them (H215)",
        arguments: FuzzTarget.all.map(\.name))
    func findsNoViolation(_ name: String) throws {
        let target = try #require(FuzzTarget.all.first { target in target.name == name })
        let seeds = try Self.seeds(of: name)
        #expect(!seeds.isEmpty, "Seeds/\(name).txt has no seed")
        for seed in seeds { target.check(seed) }
        var random = SeededGenerator(1)
        for _ in 0..<Self.mutationsPerTarget {
            target.check(random.mutation(of: random.one(of: seeds)))
        }
    }

    @Test("every file of seeds belongs to a target")
    func seedFiles() throws {
        let folder = try #require(opendir(Self.folder))
        defer { closedir(folder) }
        var names: [String] = []
        while let entry = readdir(folder) {
            let name = withUnsafePointer(to: entry.pointee.d_name) { name in
                name.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if name.hasSuffix(".txt") { names.append(String(name.dropLast(4))) }
        }
        #expect(names.sorted() == FuzzTarget.all.map(\.name).sorted())
    }

    // MARK: - Inputs

    /// So many that the slowest target takes about a second in a debug build.
    private static let mutationsPerTarget = 500
    private static var folder: String {
        #filePath.split(separator: "/", omittingEmptySubsequences: false).dropLast(2)
            .joined(separator: "/") + "/Seeds"
    }

    /// The lines of `Seeds/<name>.txt`, in the escapes of Python's byte literals, without comments.
    private static func seeds(of name: String) throws -> [[UInt8]] {
        let file = try #require(fopen("\(folder)/\(name).txt", "r"))
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while case let count = fread(&buffer, 1, buffer.count, file), count > 0 {
            bytes += buffer.prefix(count)
        }
        return try bytes.split(separator: UInt8(ascii: "\n"))
            .filter { line in line.first != UInt8(ascii: "#") }.map(unescape)
    }

    private static func unescape(_ line: ArraySlice<UInt8>) throws -> [UInt8] {
        let simple: [UInt8: UInt8] = [
            UInt8(ascii: "n"): 10, UInt8(ascii: "r"): 13, UInt8(ascii: "t"): 9,
            UInt8(ascii: "a"): 7,
            UInt8(ascii: "b"): 8, UInt8(ascii: "f"): 12, UInt8(ascii: "v"): 11,
            UInt8(ascii: "\\"): 92, UInt8(ascii: "'"): 39, UInt8(ascii: "\""): 34,
        ]
        var (bytes, rest) = ([UInt8](), line)
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "\\") else {
                bytes.append(byte)
                continue
            }
            let next = rest.popFirst()
            let kind = try #require(next, "a line ends in a backslash")
            if kind == UInt8(ascii: "x") {
                // A lone `\x` at the end means an empty input.
                guard !rest.isEmpty || !bytes.isEmpty else { return [] }
                let digits = String(decoding: rest.prefix(2), as: UTF8.self)
                bytes.append(try #require(UInt8(digits, radix: 16), "\\x\(digits) is no byte"))
                rest.removeFirst(2)
            } else if (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(kind) {
                var value = Int(kind - UInt8(ascii: "0"))
                var digits = 1
                while digits < 3, let next = rest.first,
                    (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(next)
                {
                    value = value * 8 + Int(next - UInt8(ascii: "0"))
                    rest.removeFirst()
                    digits += 1
                }
                bytes.append(UInt8(truncatingIfNeeded: value))
            } else {
                bytes.append(
                    try #require(simple[kind], "\\\(Character(UnicodeScalar(kind))) is no escape"))
            }
        }
        return bytes
    }
}
