public import Observation

/// The elements of a query, kept current on the main actor: for SwiftUI and UIKit.
///
/// It reads the store in the background. A view that reads ``results`` is drawn again after each change.
@MainActor @Observable
public final class LiveResults<Element: Queryable> {
    /// The elements; empty until they have been read for the first time.
    public var results: ResultSet<Element> {
        access(keyPath: \.results)
        return shown
    }
    /// Why they are no longer updated; `nil` while they are. Setting ``query`` or ``window`` starts them again.
    public private(set) var error: ParleyError?
    /// The query. A new one is read in the background; until then ``results`` has the old elements.
    public var query: Query<Element> { didSet { restart() } }
    /// Which of the elements are held; a wider one is read in the background.
    public var window: Window { didSet { if window != oldValue { restart() } } }

    /// What ``results`` has. The macro does not observe it, because its setter would compare each set with the one before on
    /// the main actor; different sets arrive only.
    @ObservationIgnored private var shown = ResultSet<Element>()
    @ObservationIgnored private let runner: QueryRunner
    @ObservationIgnored private var task: Task<Void, Never>?

    init(_ query: Query<Element>, in runner: QueryRunner, window: Window) {
        self.query = query
        self.window = window
        self.runner = runner
        restart()
    }

    deinit { task?.cancel() }

    private func restart() {
        task?.cancel()
        error = nil
        let sets = runner.results(query, window: window, updating: nil, after: shown)
        task = Task { [weak self] in
            do throws(ParleyError) {
                for try await set in sets {
                    guard let self, !Task.isCancelled else { return }
                    self.show(set)
                }
            } catch {
                guard let self, !Task.isCancelled else { return }
                self.error = error
            }
        }
    }

    private func show(_ set: ResultSet<Element>) {
        let former = shown
        withMutation(keyPath: \.results) { shown = set }
        // Freeing thousands of elements takes milliseconds.
        Task.detached { withExtendedLifetime(former) {} }
    }
}
