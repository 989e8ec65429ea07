import CPostgres
import SQL

/// The parameters of a statement in binary format: integers in network byte order, text and blobs as they
/// are.
///
/// C boundary: libpq copies what the pointers refer to before the call returns.
struct PostgresParameters {
    /// Starts with one unused byte, so that an empty value has an address.
    private var bytes: [UInt8] = [0]
    /// The range of each value in `bytes`; `nil` for `NULL`.
    private var ranges: [Range<Int>?] = []

    init(_ values: [SQLValue]) {
        ranges.reserveCapacity(values.count)
        for value in values {
            let start = bytes.count
            switch value {
            case .null:
                ranges.append(nil)
                continue
            case .integer(let number): append(number)
            case .text(let text): PostgresText.append(text, to: &bytes)
            case .blob(let blob): bytes += blob
            case .array(let array): append(array)
            }
            ranges.append(start..<bytes.count)
        }
    }

    private mutating func append(_ number: some FixedWidthInteger) {
        unsafe withUnsafeBytes(of: number.bigEndian) { number in unsafe bytes += number }
    }

    /// Appends an array as `array_recv` of the server reads it: the number of dimensions, a flag for `NULL`s and the
    /// element type; the length and the first index; then each element after its length.
    private mutating func append(_ array: SQLArray) {
        append(Int32(array.count > 0 ? 1 : 0))
        append(Int32(array.mayHaveNulls ? 1 : 0))
        append(array.elementType)
        guard array.count > 0 else { return }
        append(Int32(array.count))
        append(Int32(1))
        switch array {
        case .integers(let numbers):
            for number in numbers {
                append(Int32(8))
                append(number)
            }
        case .texts(let texts):
            for text in texts { appendElement { bytes in PostgresText.append(text, to: &bytes) } }
        case .blobs(let blobs):
            for blob in blobs { appendElement { bytes in bytes += blob } }
        case .values(let values):
            for value in values { append(element: value) }
        }
    }

    private mutating func append(element value: SQLValue) {
        switch value {
        case .null: append(Int32(-1))
        case .integer(let number):
            append(Int32(8))
            append(number)
        case .text(let text): appendElement { bytes in PostgresText.append(text, to: &bytes) }
        case .blob(let blob):
            append(Int32(blob.count))
            bytes += blob
        case .array: preconditionFailure("an array in an array")
        }
    }

    private mutating func appendElement(_ write: (inout [UInt8]) -> Void) {
        let place = bytes.count
        append(Int32(0))
        write(&bytes)
        let length = Int32(bytes.count - place - 4)
        for index in 0..<4 {
            bytes[place + index] = UInt8(truncatingIfNeeded: length >> (24 - 8 * index))
        }
    }

    typealias Pointers<Outcome> = (
        Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Outcome

    /// Calls a closure with the number, addresses, lengths and formats of the values.
    func withPointers<Outcome>(_ body: Pointers<Outcome>) -> Outcome {
        let lengths = ranges.map { range in Int32(range?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: ranges.count)
        return unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            let values = unsafe ranges.map { range -> UnsafePointer<CChar>? in
                guard let range, let start = unsafe start else { return nil }
                return unsafe start + range.lowerBound
            }
            return unsafe body(Int32(ranges.count), values, lengths, formats)
        }
    }
}

extension SQLValue {
    /// The type OID of the value; 0 for `NULL`, whose type the server infers.
    var postgresType: Oid {
        switch self {
        case .null: 0
        case .integer: PostgresType.int8
        case .text: PostgresType.text
        case .blob: PostgresType.bytea
        case .array(let array): array.arrayType
        }
    }
}

extension SQLArray {
    fileprivate var elementType: Oid {
        switch self {
        case .integers: PostgresType.int8
        case .texts: PostgresType.text
        case .blobs: PostgresType.bytea
        case .values(let values): values.first { value in value != .null }?.postgresType ?? 0
        }
    }

    fileprivate var mayHaveNulls: Bool {
        if case .values = self { true } else { false }
    }

    fileprivate var arrayType: Oid {
        switch elementType {
        case PostgresType.int8: PostgresType.int8Array
        case PostgresType.text: PostgresType.textArray
        default: PostgresType.byteaArray
        }
    }
}

/// Type OIDs (`pg_type.dat` of the server's source, the same in all releases).
enum PostgresType {
    static let bool: Oid = 16
    static let bytea: Oid = 17
    static let name: Oid = 19
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
    static let byteaArray: Oid = 1001
    static let textArray: Oid = 1009
    static let int8Array: Oid = 1016
}

/// Text as PostgreSQL stores it, which cannot hold U+0000; SQLite can.
///
/// U+0000 is stored as U+FFFF and `0`, and U+FFFF as U+FFFF and `1`. Every text is returned unchanged, and
/// two texts are equal in the database exactly when they are equal here.
enum PostgresText {
    private static let mark = Array("\u{FFFF}".utf8)
    private static let zero = UInt8(ascii: "0")
    private static let one = UInt8(ascii: "1")

    /// Appends the stored form of a text.
    static func append(_ text: String, to bytes: inout [UInt8]) {
        let start = bytes.count
        bytes += text.utf8
        // Most texts need no escapes.
        guard bytes[start...].contains(where: { byte in byte == 0 || byte == mark[0] }) else {
            return
        }
        let plain = Array(bytes[start...])
        bytes.removeSubrange(start...)
        var rest = plain[...]
        while let byte = rest.first {
            if byte == 0 {
                bytes += mark + [zero]
                rest.removeFirst()
            } else if rest.starts(with: mark) {
                bytes += mark + [one]
                rest.removeFirst(mark.count)
            } else {
                bytes.append(byte)
                rest.removeFirst()
            }
        }
    }

    /// The text of its stored form.
    static func text(_ bytes: some Collection<UInt8>) -> String {
        guard bytes.contains(mark[0]) else { return String(decoding: bytes, as: UTF8.self) }
        var plain: [UInt8] = []
        var rest = Array(bytes)[...]
        while let byte = rest.first {
            let sign = rest.dropFirst(mark.count).first
            if rest.starts(with: mark), let sign, sign == zero || sign == one {
                plain += sign == zero ? [0] : mark
                rest.removeFirst(mark.count + 1)
            } else {
                plain.append(byte)
                rest.removeFirst()
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }
}
