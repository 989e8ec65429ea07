import TestSupport
import Testing

@testable import ParleyKit

@Suite struct `The changes between result sets` {
    private typealias Sections = [ResultSection<Identity>]

    @Test(arguments: TestRounds.seeds(4, of: 100))
    func `turn the old set into the new one (K62)`(seed: UInt64) {
        var random = SeededGenerator(seed)
        var old: Sections = []
        for _ in 0..<1000 {
            let new = random.once(in: 3) ? Self.sections(&random) : Self.edited(old, &random)
            let changes = ResultDifference(from: old, to: new) { $0 != $1 }.changes
            #expect(Self.applied(changes, to: old, new) == new)
            #expect(old != new || changes.isEmpty)
            old = new
        }
    }

    @Test func `name few elements if one element moves`() {
        let names = (0..<100).map { number in "\(number)" }
        var moved = names
        moved.insert(moved.remove(at: 90), at: 3)
        let changes = ResultDifference(from: Self.section(names), to: Self.section(moved)) {
            $0 != $1
        }.changes
        #expect(
            changes == [
                .move(from: ResultIndex(section: 0, item: 90), to: ResultIndex(section: 0, item: 3))
            ])
    }

    @Test func `delete and insert the elements of sections that change places`() {
        let sections = Self.section(["a"], key: 1) + Self.section(["b"], key: 2)
        let changes = ResultDifference(from: sections, to: sections.reversed()) { $0 != $1 }.changes
        #expect(Self.applied(changes, to: sections, sections.reversed()) == sections.reversed())
        #expect(changes.count == 4)
    }

    @Test func `count an update only in the properties that were asked for (K62)`() {
        let old = identity("a", version: 1)
        let new = identity("a", version: 2)
        #expect(Identity.rows.differ(old, new, in: nil))
        #expect(Identity.rows.differ(old, new, in: ["firstName", "displayName"]))
        #expect(!Identity.rows.differ(old, new, in: ["firstName", "nothing"]))
    }

    @Test func `count metadata by its paths`() {
        let old = identity("a", metadata: ["x": ["y": "1"], "z": "1"])
        let new = identity("a", metadata: ["x": ["y": "2"], "z": "1"])
        #expect(Identity.rows.differ(old, new, in: ["metadata"]))
        #expect(Identity.rows.differ(old, new, in: ["metadata.x.y"]))
        #expect(Identity.rows.differ(old, new, in: ["metadata.x"]))
        #expect(!Identity.rows.differ(old, new, in: ["metadata.z"]))
    }

    // MARK: - Random lists

    private static func section(_ names: [String], key: Int64? = nil) -> Sections {
        [
            ResultSection(
                key: key.map(SectionKey.number),
                elements: names.map { name in identity(name, version: 0) })
        ]
    }

    private static func sections(_ random: inout SeededGenerator) -> Sections {
        let names = random.some(of: (0..<random.number(0...24)).map { number in "u\(number)" })
        let keys = random.number(1...4)
        return sections(
            of: names.map { name in
                (.number(Int64(random.below(keys))), identity(name, version: random.below(3)))
            })
    }

    /// A list with a few elements changed, removed, added or moved to another place or section.
    private static func edited(_ old: Sections, _ random: inout SeededGenerator) -> Sections {
        var elements = old.flatMap { section in
            section.elements.map { element in (section.key, element) }
        }
        for _ in 0..<random.number(0...3) {
            guard !elements.isEmpty else { break }
            let index = random.below(elements.count)
            switch random.below(4) {
            case 0: elements.remove(at: index)
            case 1:
                let name = elements[index].1.id.text
                elements[index].1 = identity(name, version: random.below(3))
            case 2:
                elements.insert(elements.remove(at: index), at: random.below(elements.count + 1))
            default:
                let name = "u\(random.below(40))"
                guard !elements.contains(where: { $0.1.id.text == name }) else { continue }
                elements.insert((elements[index].0, identity(name, version: 0)), at: index)
            }
        }
        return sections(of: elements)
    }

    private static func sections(of elements: [(SectionKey?, Identity)]) -> Sections {
        ResultSection.sections(of: elements.map { (key: $0, element: $1) })
    }

    // MARK: - Applying

    /// Applies changes as ``ResultSet/changes`` describes it.
    private static func applied(
        _ changes: [ResultChange], to old: Sections, _ new: Sections
    ) -> Sections {
        var (deletes, inserts, updates): ([ResultIndex], [ResultIndex], [ResultIndex]) = (
            [], [], []
        )
        var (deletedSections, insertedSections): ([Int], [Int]) = ([], [])
        for change in changes {
            switch change {
            case .delete(let index): deletes.append(index)
            case .deleteSection(let section): deletedSections.append(section)
            case .insertSection(let section): insertedSections.append(section)
            case .insert(let index): inserts.append(index)
            case .move(let from, let to):
                deletes.append(from)
                inserts.append(to)
                #expect(old[from.section].elements[from.item].id == new[to].id)
                #expect(!deletedSections.contains(from.section))
                #expect(!insertedSections.contains(to.section))
            case .update(let index): updates.append(index)
            }
        }
        #expect(updates == updates.sorted())
        #expect(deletedSections == deletedSections.sorted(by: >))
        #expect(insertedSections == insertedSections.sorted())
        var sections = old.map { section in (key: section.key, elements: section.elements) }
        for index in deletes.sorted(by: >) {
            sections[index.section].elements.remove(at: index.item)
        }
        for section in deletedSections { #expect(sections.remove(at: section).elements.isEmpty) }
        for section in insertedSections { sections.insert((new[section].key, []), at: section) }
        for index in inserts.sorted() {
            sections[index.section].elements.insert(new[index], at: index.item)
        }
        for index in updates { sections[index.section].elements[index.item] = new[index] }
        return sections.map { section in
            ResultSection(key: section.key, elements: section.elements)
        }
    }
}

extension [ResultSection<Identity>] {
    fileprivate subscript(index: ResultIndex) -> Identity {
        self[index.section].elements[index.item]
    }
}

/// An identity with a display name that stands for its version.
func identity(_ id: String, version: Int = 0, metadata: Metadata = .empty) -> Identity {
    Identity(
        id: UserID(id), displayName: "\(version)", firstName: nil, lastName: nil,
        emailAddress: nil, phoneNumber: nil, publicKey: nil, avatarURL: nil, metadata: metadata,
        isFollowed: false)
}
