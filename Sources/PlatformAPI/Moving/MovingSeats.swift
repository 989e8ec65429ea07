import Locking
import Messaging
import MessagingWire

/// How many move applications at a time: one an application, and few in all, because each holds a
/// connection to the database, or memory for a line.
final class MovingSeats: Sendable {
    private let taken = Locked<Set<Application.ID>>([])
    private let most: Int

    /// - Parameter most: Of all applications together.
    init(atMost most: Int) { self.most = most }

    /// A place among them, given back with its last holder.
    final class Seat: Sendable {
        private let seats: MovingSeats
        private let application: Application.ID

        fileprivate init(_ seats: MovingSeats, _ application: Application.ID) {
            self.seats = seats
            self.application = application
        }

        deinit { _ = seats.taken.withLock { taken in taken.remove(application) } }
    }

    /// Takes a place.
    ///
    /// - Parameter work: What is done there, for people.
    /// - Throws: 409 while the application has one, 503 while there is none.
    func seat(for application: Application.ID, _ work: String) throws(APIError) -> Seat {
        try taken.withLock { taken throws(APIError) in
            guard !taken.contains(application) else {
                throw APIError(.requestInProgress, "\(work) is under way.")
            }
            guard taken.count < most else {
                throw APIError(.serviceUnavailable, "Other applications are being moved now.")
            }
            taken.insert(application)
        }
        return Seat(self, application)
    }
}
