/// What a store lists page by page, of which one is held at a time: a list may be of any length.
struct PagedList<Element: Sendable, Marker: Sendable>: AsyncSequence, AsyncIteratorProtocol,
    Sendable
{
    typealias Failure = ObjectStoreError
    /// Asks for the page behind a marker, or for the first.
    typealias Turn =
        @Sendable (_ marker: Marker?) async throws(ObjectStoreError) -> (
            elements: [Element], next: Marker?
        )

    private let turn: Turn
    private var page: ArraySlice<Element> = []
    private var marker: Marker?
    private var isLast = false

    init(_ turn: @escaping Turn) { self.turn = turn }

    func makeAsyncIterator() -> Self { self }

    mutating func next() async throws(ObjectStoreError) -> Element? {
        // A page may hold nothing of ours.
        while page.isEmpty, !isLast {
            let (elements, next) = try await turn(marker)
            (page, marker, isLast) = (elements[...], next, next == nil)
        }
        return page.popFirst()
    }
}
