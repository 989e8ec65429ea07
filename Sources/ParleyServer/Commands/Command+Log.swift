import Glibc
import Messaging
import MessagingStore
import MessagingWire

extension Command {
    /// Events that are read at once.
    private static let stretch = 100
    /// Between two looks for something new, in milliseconds.
    private static let pause: Int64 = 500

    /// Prints an application's log, a line for each event.
    ///
    /// - Parameters:
    ///   - place: The position behind which it begins; `nil` for the oldest event that is kept.
    ///   - following: Whether it goes on with what happens, until the reader is gone.
    public static func log(
        _ sources: SettingsSources, application text: String, after place: Int64?, following: Bool
    ) async throws -> Int32 {
        let application = try application(text)
        return try await withStore(sources) { store in
            guard try await store.application(application) != nil else {
                throw StartFailure("there is no application \(application)")
            }
            var place = place.map(LogPosition.init)
            while true {
                let page = try await page(of: store, after: place, application)
                for shown in page.events {
                    let recorded = shown.recorded
                    say(EventLine.text(recorded.event, by: recorded.actor, at: recorded.at))
                }
                place = page.through
                guard !page.isCut else { continue }
                guard following else { return }
                // A server in another process writes the log: it is looked for.
                try await Task.sleep(for: .milliseconds(pause))
            }
        }
    }

    private static func page(
        of store: MessagingStore, after place: LogPosition?, _ application: Application.ID
    ) async throws -> EventPage {
        do {
            return try await store.eventPage(after: place, limit: stretch, in: application)
        } catch Rejection.positionGone(let oldest) {
            throw StartFailure("the log is kept from position \(oldest.number) on")
        } catch Rejection.invalid {
            throw StartFailure("the log ends before position \(place?.number ?? 0)")
        }
    }
}
