/// Decodes `chunked` (RFC 9112 §7.1), strictly: H46–H50.
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
    private var trailerOctets = 0
    private var trailerFields = 0
    private var hasExtensionOctets = false
    private let bodyLimit: Int64
    private let kept: FieldName?
    /// The trailer line so far, where one may be kept.
    private var line: [UInt8] = []
    /// The values of the trailer field that is kept, in order.
    private(set) var trailer: [String] = []

    /// - Parameter kept: The trailer field that is not thrown away.
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

    private mutating func take(_ octet: UInt8) throws(Refusal) {
        switch state {
        case .sizeStart, .size:
            if let digit = octet.hexDigitValue {
                digits += 1
                guard digits <= 16, size >> 59 == 0 else { throw .chunkSize }
                size = size << 4 | Int64(digit)
                state = .size
            } else {
                guard state == .size else { throw .chunkSize }
                // Blanks may stand before an extension, never before the line's end (H46).
                switch octet {
                case .cr: state = .sizeEnd
                case UInt8(ascii: ";"): state = .extensionName
                case .sp, .htab: state = .afterSize
                default: throw .chunkSize
                }
            }
            try countLine()
        case .afterSize:
            switch octet {
            case .sp, .htab: break
            case UInt8(ascii: ";"): state = .extensionName
            default: throw .chunkSize
            }
            hasExtensionOctets = false
            try countLine()
        case .extensionName:
            if OctetClass.token.contains(octet) {
                hasExtensionOctets = true
            } else if octet == .sp || octet == .htab {
                // Blanks before the name; after it they lead to `=`, `;` or nothing allowed.
                if hasExtensionOctets { state = .extensionEquals }
            } else {
                guard hasExtensionOctets else { throw .chunkExtension }
                try endExtensionPart(octet)
            }
            try countExtension()
        case .extensionEquals:
            if octet != .sp && octet != .htab {
                guard octet == UInt8(ascii: "=") || octet == UInt8(ascii: ";") else {
                    throw .chunkExtension
                }
                try endExtensionPart(octet)
            }
            try countExtension()
        case .extensionValue:
            if octet == UInt8(ascii: "\""), !hasExtensionOctets {
                state = .quoted
            } else if OctetClass.token.contains(octet) {
                hasExtensionOctets = true
            } else if octet == .sp || octet == .htab {
                if hasExtensionOctets { state = .afterSize }
            } else {
                guard hasExtensionOctets, octet != UInt8(ascii: "=") else { throw .chunkExtension }
                try endExtensionPart(octet)
            }
            try countExtension()
        case .quoted:
            guard OctetClass.value.contains(octet) else { throw .chunkExtension }
            if octet == UInt8(ascii: "\\") { state = .quotedPair }
            if octet == UInt8(ascii: "\"") { state = .afterQuoted }
            try countExtension()
        case .quotedPair:
            guard OctetClass.value.contains(octet) else { throw .chunkExtension }
            state = .quoted
            try countExtension()
        case .afterQuoted:
            if octet == .sp || octet == .htab {
                state = .afterSize
            } else {
                guard octet != UInt8(ascii: "=") else { throw .chunkExtension }
                try endExtensionPart(octet)
            }
            try countExtension()
        case .sizeEnd:
            guard octet == .lf else { throw .chunkSize }
            try beginChunk()
        case .data: break
        case .dataCR:
            guard octet == .cr else { throw .chunkEnd }
            state = .dataLF
        case .dataLF:
            guard octet == .lf else { throw .chunkEnd }
            state = .sizeStart
        case .trailerStart, .trailerName, .trailerValue, .trailerEnd, .end:
            try takeTrailer(octet)
        case .complete: break
        }
    }

    private mutating func beginChunk() throws(Refusal) {
        chunkCount += 1
        // Many tiny chunks cost more than they carry (H49).
        guard chunkCount <= 65_536 + bodyLimit / 64 else {
            throw Refusal(.contentTooLarge, "H49", "The body comes in too many chunks.")
        }
        state = size == 0 ? .trailerStart : .data
        digits = 0
        lineCount = 0
        hasExtensionOctets = false
    }

    /// What ends the name or the value of an extension: `=`, `;`, or the line.
    private mutating func endExtensionPart(_ octet: UInt8) throws(Refusal) {
        hasExtensionOctets = false
        switch octet {
        case .cr: state = .sizeEnd
        case UInt8(ascii: ";"): state = .extensionName
        case UInt8(ascii: "="): state = .extensionValue
        default: throw .chunkExtension
        }
    }

    private mutating func countLine() throws(Refusal) {
        lineCount += 1
        guard lineCount <= 1024 else {
            throw Refusal(.badRequest, "H47", "A chunk line is longer than 1,024 octets.")
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

    /// Trailers are checked like header fields and then thrown away, all but one (H50).
    private mutating func takeTrailer(_ octet: UInt8) throws(Refusal) {
        trailerOctets += 1
        guard trailerOctets <= 8192 + 2 else {
            throw Refusal(.fieldsTooLarge, "H50", "The trailer section is too large.")
        }
        if kept != nil { line.append(octet) }
        switch state {
        case .trailerStart:
            if octet == .cr {
                state = .end
            } else {
                trailerFields += 1
                guard trailerFields <= 32 else {
                    throw Refusal(.fieldsTooLarge, "H50", "There are too many trailer fields.")
                }
                guard OctetClass.token.contains(octet) else { throw .trailer }
                state = .trailerName
            }
        case .trailerName:
            if octet == UInt8(ascii: ":") {
                state = .trailerValue
            } else if !OctetClass.token.contains(octet) {
                throw .trailer
            }
        case .trailerValue:
            if octet == .cr {
                state = .trailerEnd
            } else if !OctetClass.value.contains(octet) {
                throw .trailer
            }
        case .trailerEnd:
            guard octet == .lf else { throw .trailer }
            state = .trailerStart
            keepTrailer()
        default:
            guard octet == .lf else { throw .trailer }
            state = .complete
        }
    }

    /// A line has ended; its value is kept where its name is the one asked for.
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
