import Testing

@testable import PlatformAPI

@Suite struct `A cache with a budget` {
    @Test(arguments: [1000, 5000, 60_000])
    func `never weighs more than that, and tells what it was told last`(budget: Int) {
        var cache = BudgetedCache<Int, Int>(budget: budget)
        var told: [Int: Int] = [:]
        var weights: [Int: Int] = [:]
        var found = 0
        for number in 0..<20_000 {
            let key = Int.random(in: 0..<300)
            switch Int.random(in: 0..<10) {
            case 0:
                cache.remove(key)
                told[key] = nil
            case 1...4:
                weights[key] = Int.random(in: 0...budget / 8)
                cache.keep(number, of: key, weighing: weights[key, default: 0])
                told[key] = number
            default:
                guard let value = cache.value(of: key) else { continue }
                found += 1
                #expect(value == told[key])
            }
            #expect(cache.weight <= budget)
        }
        #expect(found > 500)
        let there = (0..<300).filter { key in cache.value(of: key) != nil }
        #expect(there.count == cache.count)
        #expect(there.reduce(0) { sum, key in sum + weights[key, default: 0] } == cache.weight)
    }

    @Test func `lets those go first that nobody asked for`() {
        var cache = BudgetedCache<Int, Int>(budget: 1600)
        for key in 0..<16 { cache.keep(key, of: key, weighing: 100) }
        for key in 0..<8 { #expect(cache.value(of: key) == key) }
        for key in 16..<24 { cache.keep(key, of: key, weighing: 100) }
        #expect((0..<8).allSatisfy { key in cache.value(of: key) == key })
        #expect((8..<16).allSatisfy { key in cache.value(of: key) == nil })
    }

    @Test func `keeps nothing that drives out many, and without a budget nothing at all`() {
        var cache = BudgetedCache<Int, Int>(budget: 1600)
        cache.keep(1, of: 1, weighing: 101)
        #expect(cache.count == 0)
        // What was known under the key is not true any more either.
        cache.keep(2, of: 2, weighing: 100)
        cache.keep(3, of: 2, weighing: 101)
        #expect(cache.value(of: 2) == nil)
        var none = BudgetedCache<Int, Int>(budget: 0)
        none.keep(1, of: 1, weighing: 384)
        #expect(none.count == 0)
    }
}
