/// A strict decoder of `chunked` (RFC 9112 §7.1; H46–H50).
struct ChunkedDecoder: Sendable {
    private enum State: UInt8 {
        case sizeStart, size, afterSize, extensionName, extensionEquals, extensionValue
        case quoted, quotedPair, afterQuoted, sizeEnd
        case data, dataCR, dataLF
        case trailerStart, trailerName, trailerValue, trailerEnd, end, complete
    }

    private var state = State.sizeStart
    private var size: Int64 = 0
    private var digits = 0
    private var lineCount = 0
    private var extensionTotal = 0
    private var chunkCount: Int64 = 0
    private var trailerBytes = 0
    private var trailerFields = 0
    private var hasExtensionBytes = false
    private let bodyLimit: Int64
    private let kept: FieldName?
    /// The current trailer line, if a field is to be kept.
    private var line: [UInt8] = []
    /// The values of the kept trailer field, in order.
    private(set) var trailer: [String] = []

    /// - Parameter kept: The trailer field to keep.
    init(bodyLimit: Int64, keeping kept: FieldName? = nil) {
        self.bodyLimit = bodyLimit
        self.kept = kept
    }

    var isComplete: Bool { state == .complete }

    mutating func step(_ input: Span<UInt8>) throws(Refusal) -> BodyDecoder.Step {
        if state == .complete { return .end }
        if input.isEmpty { return .needsInput }
        if state == .data {
            let count = Int(min(size, Int64(input.count)))
            size -= Int64(count)
            if size == 0 { state = .dataCR }
            return .content(count)
        }
        var used = 0
        while used < input.count, state != .data, state != .complete {
            try take(input[used])
            used += 1
        }
        return .framing(used)
    }

    private mutating func take(_ byte: UInt8) throws(Refusal) {
        switch state {
        case .sizeStart, .size:
            if let digit = byte.hexDigitValue {
                digits += 1
                guard digits <= 16, size >> 59 == 0 else { throw .chunkSize }
                size = size << 4 | Int64(digit)
                state = .size
            } else {
                guard state == .size else { throw .chunkSize }
                // Blanks may precede an extension but not the line end (H46).
                switch byte {
                case .cr: state = .sizeEnd
                case UInt8(ascii: ";"): state = .extensionName
                case .sp, .htab: state = .afterSize
                default: throw .chunkSize
                }
            }
            try countLine()
        case .afterSize:
            switch byte {
            case .sp, .htab: break
            case UInt8(ascii: ";"): state = .extensionName
            default: throw .chunkSize
            }
            hasExtensionBytes = false
            try countLine()
        case .extensionName:
            if ByteClass.token.contains(byte) {
                hasExtensionBytes = true
            } else if byte == .sp || byte == .htab {
                // Skips blanks before the name; after the name only `=` or `;` may follow.
                if hasExtensionBytes { state = .extensionEquals }
            } else {
                guard hasExtensionBytes else { throw .chunkExtension }
                try endExtensionPart(byte)
            }
            try countExtension()
        case .extensionEquals:
            if byte != .sp && byte != .htab {
                guard byte == UInt8(ascii: "=") || byte == UInt8(ascii: ";") else {
                    throw .chunkExtension
                }
                try endExtensionPart(byte)
            }
            try countExtension()
        case .extensionValue:
            if byte == UInt8(ascii: "\""), !hasExtensionBytes {
                state = .quoted
            } else if ByteClass.token.contains(byte) {
                hasExtensionBytes = true
            } else if byte == .sp || byte == .htab {
                if hasExtensionBytes { state = .afterSize }
            } else {
                guard hasExtensionBytes, byte != UInt8(ascii: "=") else { throw .chunkExtension }
                try endExtensionPart(byte)
            }
            try countExtension()
        case .quoted:
            guard ByteClass.value.contains(byte) else { throw .chunkExtension }
            if byte == UInt8(ascii: "\\") { state = .quotedPair }
            if byte == UInt8(ascii: "\"") { state = .afterQuoted }
            try countExtension()
        case .quotedPair:
            guard ByteClass.value.contains(byte) else { throw .chunkExtension }
            state = .quoted
            try countExtension()
        case .afterQuoted:
            if byte == .sp || byte == .htab {
                state = .afterSize
            } else {
                guard byte != UInt8(ascii: "=") else { throw .chunkExtension }
                try endExtensionPart(byte)
            }
            try countExtension()
        case .sizeEnd:
            guard byte == .lf else { throw .chunkSize }
            try beginChunk()
        case .data: break
        case .dataCR:
            guard byte == .cr else { throw .chunkEnd }
            state = .dataLF
        case .dataLF:
            guard byte == .lf else { throw .chunkEnd }
            state = .sizeStart
        case .trailerStart, .trailerName, .trailerValue, .trailerEnd, .end:
            try takeTrailer(byte)
        case .complete: break
        }
    }

    private mutating func beginChunk() throws(Refusal) {
        chunkCount += 1
        // Many tiny chunks cost more than they carry (H49).
        guard chunkCount <= 65_536 + bodyLimit / 64 else {
            throw Refusal(.contentTooLarge, "H49", "The body has too many chunks.")
        }
        state = size == 0 ? .trailerStart : .data
        digits = 0
        lineCount = 0
        hasExtensionBytes = false
    }

    /// Handles the byte that ends the name or value of an extension: `=`, `;` or CR.
    private mutating func endExtensionPart(_ byte: UInt8) throws(Refusal) {
        hasExtensionBytes = false
        switch byte {
        case .cr: state = .sizeEnd
        case UInt8(ascii: ";"): state = .extensionName
        case UInt8(ascii: "="): state = .extensionValue
        default: throw .chunkExtension
        }
    }

    private mutating func countLine() throws(Refusal) {
        lineCount += 1
        guard lineCount <= 1024 else {
            throw Refusal(.badRequest, "H47", "A chunk line is longer than 1,024 bytes.")
        }
    }

    private mutating func countExtension() throws(Refusal) {
        try countLine()
        extensionTotal += 1
        guard extensionTotal <= 16_384 else {
            throw Refusal(
                .badRequest, "H47", "The chunk extensions are longer than 16 KiB together.")
        }
    }

    /// Trailers are validated like header fields and discarded, except the kept one (H50).
    private mutating func takeTrailer(_ byte: UInt8) throws(Refusal) {
        trailerBytes += 1
        guard trailerBytes <= 8192 + 2 else {
            throw Refusal(.fieldsTooLarge, "H50", "The trailer section is too large.")
        }
        if kept != nil { line.append(byte) }
        switch state {
        case .trailerStart:
            if byte == .cr {
                state = .end
            } else {
                trailerFields += 1
                guard trailerFields <= 32 else {
                    throw Refusal(.fieldsTooLarge, "H50", "There are too many trailer fields.")
                }
                guard ByteClass.token.contains(byte) else { throw .trailer }
                state = .trailerName
            }
        case .trailerName:
            if byte == UInt8(ascii: ":") {
                state = .trailerValue
            } else if !ByteClass.token.contains(byte) {
                throw .trailer
            }
        case .trailerValue:
            if byte == .cr {
                state = .trailerEnd
            } else if !ByteClass.value.contains(byte) {
                throw .trailer
            }
        case .trailerEnd:
            guard byte == .lf else { throw .trailer }
            state = .trailerStart
            keepTrailer()
        default:
            guard byte == .lf else { throw .trailer }
            state = .complete
        }
    }

    /// Stores the value of a complete line if its name is the kept one.
    private mutating func keepTrailer() {
        defer { line = [] }
        guard let kept, let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        guard line.span.matches(kept, in: 0..<colon) else { return }
        let value = line[(colon + 1)...].dropLast(2).trimmingBlanks
        trailer.append(String(decoding: value, as: UTF8.self))
    }
}

extension Refusal {
    fileprivate static let chunkSize = Refusal(.badRequest, "H46", "A chunk size is malformed.")
    fileprivate static let chunkExtension = Refusal(
        .badRequest, "H47", "A chunk extension is malformed.")
    fileprivate static let chunkEnd = Refusal(
        .badRequest, "H48", "A chunk is not followed by CR LF.")
    fileprivate static let trailer = Refusal(.badRequest, "H50", "A trailer field is malformed.")
}
