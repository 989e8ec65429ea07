import CPostgres

/// The values of a statement as they travel: numbers in network order, text and bytes as they are.
///
/// A file of the C boundary: libpq copies what the pointers lead to before the call returns.
struct PostgresParameters {
    /// Begins with an octet of nobody's, so that there is an address even for nothing.
    private var bytes: [UInt8] = [0]
    /// Where each value lies; `nil` for `NULL`.
    private var places: [Range<Int>?] = []

    init(_ values: [SQLValue]) {
        places.reserveCapacity(values.count)
        for value in values {
            let start = bytes.count
            switch value {
            case .null:
                places.append(nil)
                continue
            case .integer(let number):
                for shift in stride(from: 56, through: 0, by: -8) {
                    bytes.append(UInt8(truncatingIfNeeded: number >> Int64(shift)))
                }
            case .text(let text): PostgresText.append(text, to: &bytes)
            case .blob(let blob): bytes += blob
            }
            places.append(start..<bytes.count)
        }
    }

    typealias Pointers<Outcome> = (
        Int32, UnsafePointer<UnsafePointer<CChar>?>?, UnsafePointer<Int32>?, UnsafePointer<Int32>?
    ) -> Outcome

    /// Lends their number, addresses, lengths and formats.
    func withPointers<Outcome>(_ body: Pointers<Outcome>) -> Outcome {
        let lengths = places.map { place in Int32(place?.count ?? 0) }
        let formats = [Int32](repeating: 1, count: places.count)
        return unsafe bytes.withUnsafeBytes { bytes in
            let start = unsafe bytes.assumingMemoryBound(to: CChar.self).baseAddress
            let values = unsafe places.map { place -> UnsafePointer<CChar>? in
                guard let place, let start = unsafe start else { return nil }
                return unsafe start + place.lowerBound
            }
            return unsafe body(Int32(places.count), values, lengths, formats)
        }
    }
}

extension SQLValue {
    /// The server's number for its type; 0 for `NULL`, which has none.
    var postgresType: Oid {
        switch self {
        case .null: 0
        case .integer: PostgresType.int8
        case .text: PostgresType.text
        case .blob: PostgresType.bytea
        }
    }
}

/// The server's numbers for types (`pg_type.dat` of its source, the same in all releases).
enum PostgresType {
    static let bool: Oid = 16
    static let bytea: Oid = 17
    static let name: Oid = 19
    static let int8: Oid = 20
    static let int2: Oid = 21
    static let int4: Oid = 23
    static let text: Oid = 25
}
