import HTTP
import TestSupport
import Testing

@testable import Uploads

@Suite struct `A list of uploads` {
    private let fixture = UploadFixture()

    private func create(
        _ number: Int, _ length: Int64?, for application: String = "app", in uploads: Uploads
    ) async throws -> String {
        try await uploads.create(
            UploadDraft(
                owner: UploadOwner(application: application, user: "ana"),
                contentID: UploadFixture.content(number: number), mediaType: nil, length: length))
    }

    /// The last digits of the contents on all pages.
    private func numbers(_ query: UploadQuery, in uploads: Uploads) async throws -> [Int] {
        var (query, found): (UploadQuery, [Int]) = (query, [])
        while true {
            let page = try await uploads.list(query)
            #expect(page.searchedTo == nil)
            found += page.uploads.compactMap { upload in upload.content.last?.wholeNumberValue }
            guard page.uploads.count == query.limit else { return found }
            query.after = page.uploads.last?.content
        }
    }

    @Test(arguments: [1, 2, 100]) func `has those of an application and a state, page by page`(
        limit: Int
    ) async throws {
        let uploads = try await fixture.open()
        let urls = try await [
            create(1, 4, in: uploads), create(2, 4, in: uploads),
            create(3, 4, for: "other", in: uploads), create(4, nil, in: uploads),
            create(5, 4, in: uploads),
        ]
        _ = await uploads.put(urls[0], "bytes 0-1/4", [1, 2])
        _ = await uploads.put(urls[1], "bytes 0-3/4", [1, 2, 3, 4])
        _ = await uploads.send(.delete, urls[4])
        var query = UploadQuery(limit: limit)
        #expect(try await numbers(query, in: uploads) == [4, 3, 1])
        query.application = "app"
        #expect(try await numbers(query, in: uploads) == [4, 1])
        query.state = .receiving
        #expect(try await numbers(query, in: uploads) == [1])
        query.state = .complete
        #expect(try await numbers(query, in: uploads) == [2])
        query.state = .cancelled
        #expect(try await numbers(query, in: uploads) == [5])
        query.application = nil
        query.state = .failed
        #expect(try await numbers(query, in: uploads) == [])
    }

    @Test func `shows the progress of each, and its rate for ten seconds`() async throws {
        let fixture = UploadFixture(bucket: nil)
        let uploads = try await fixture.open()
        let url = try await create(1, 8, in: uploads)
        func shown() async throws -> ListedUpload {
            try #require(try await uploads.list(UploadQuery(limit: 10)).uploads.first)
        }
        let created = try await shown()
        #expect(created.state == "created" && created.received == 0 && created.length == 8)
        #expect(created.owner.user == "ana" && created.creation == .api)
        #expect(created.rate == nil && created.lastProgressAt == fixture.clock.now())
        fixture.pass(2000)
        _ = await uploads.put(url, "bytes 0-3/8", [1, 2, 3, 4])
        let receiving = try await shown()
        #expect(receiving.state == "receiving" && receiving.received == 4)
        #expect(receiving.rate == 2 && receiving.lastProgressAt == fixture.clock.now())
        fixture.pass(10_001)
        #expect(try await shown().rate == nil)
    }
}
