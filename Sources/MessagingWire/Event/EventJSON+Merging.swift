import JSON
import Messaging

// What a merging has changed (X1.5).
extension EventJSON {
    /// The ids that lead to the winner since, its metadata as a whole, and where messages went that
    /// stand elsewhere now: one of the place p in `from` … `to` stands at p − `from` + `moved_to`.
    func write(_ merge: ConversationMerged, into writer: inout JSONWriter) {
        writer.key("aliases")
        writer.array { writer in
            for alias in merge.aliases { name(alias, into: &writer) }
        }
        writer.key("operations")
        writer.array { writer in
            writer.object { writer in
                writer.member("operation", "set")
                writer.member("property", "metadata")
                writer.key("value")
                MetadataJSON.write(merge.metadata.view, into: &writer)
            }
        }
        writer.key("messages")
        writer.array { writer in
            for stretch in merge.relocations
            where stretch.conversation != merge.winner || !stretch.isStanding {
                write(stretch, into: &writer)
            }
        }
    }

    private func write(_ stretch: Relocation, into writer: inout JSONWriter) {
        writer.object { writer in
            writer.key("conversation")
            name(stretch.conversation, into: &writer)
            let places: [(StaticString, Position)] = [
                ("from", stretch.from), ("to", stretch.through), ("moved_to", stretch.to),
            ]
            for (name, place) in places {
                writer.key(name)
                PositionJSON.write(place, into: &writer)
            }
        }
    }

    private func name(_ id: Conversation.ID, into writer: inout JSONWriter) {
        writer.string(IdentifierJSON.text(id, in: .conversations))
    }
}
