import ImportExport
import JSON
import Messaging
import MessagingWire

/// The lines of an import, split and read (X10).
enum ImportLines {
    static func check(_ input: [UInt8]) {
        let whole = lines(input, cutAt: [input.count])
        for split in Cuts.splits(of: input) {
            invariant(
                "lines are the same, however the input is split",
                lines(input, cutAt: split) == whole)
        }
        for bytes in whole {
            guard let line = try? ArchiveLineJSON.read(bytes, MessagingLimits()) else { continue }
            guard let again = try? ArchiveLineJSON.read(written(line), MessagingLimits()) else {
                fatalError("violated: a written text is read back")
            }
            invariant("a written line is read back the same", again == line)
        }
    }

    private static func lines(_ input: [UInt8], cutAt ends: [Int]) -> [[UInt8]] {
        var (cutter, start) = (LineSplitter(), 0)
        var lines: [[UInt8]] = []
        for end in ends {
            cutter.append(input[start..<end])
            start = end
            while let line = try? cutter.next() { lines.append(line) }
        }
        return lines + (cutter.last().map { line in [line] } ?? [])
    }

    private static func written(_ line: ArchiveLine) -> [UInt8] {
        var writer = JSONWriter()
        ArchiveLineJSON.write(line, into: &writer)
        return writer.finish()
    }
}
