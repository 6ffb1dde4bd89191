import MultipeerActors
import TestSupport
import Testing

@Suite("Tables in order", .computing)
struct OrderedTableTests {
    @Test(
        "whatever is inserted and removed, the rest keeps its order of insertion", arguments: 0..<20
    )
    func model(_ seed: Int) {
        var random = Seeded(UInt64(seed))
        var table = OrderedTable<Int, Int>()
        var model: [(key: Int, value: Int)] = []
        for step in 0..<2_000 {
            let key = Int.random(in: 0..<(seed % 2 == 0 ? 20 : 400), using: &random)
            let place = model.firstIndex { $0.key == key }
            switch Int.random(in: 0..<5, using: &random) {
            case 0...1:
                let isNew = table.append(key, step)
                #expect(isNew == (place == nil))
                if isNew { model.append((key, step)) }
            case 2:
                let value = table.remove(key)
                #expect(value == place.map { model[$0].value })
                if let place { model.remove(at: place) }
            case 3:
                let first = table.removeFirst()
                #expect(first?.key == model.first?.key && first?.value == model.first?.value)
                if !model.isEmpty { model.removeFirst() }
            default:
                let head = table.head()
                #expect(head?.key == model.first?.key)
            }
            #expect(table.count == model.count)
            #expect(table[key] == model.first { $0.key == key }?.value)
        }
        #expect(table.keys == model.map(\.key))
        let values = table.removeAll()
        #expect(values == model.map(\.value))
        #expect(table.isEmpty)
    }

    @Test("an element that was removed and inserted again comes last")
    func again() {
        var table = OrderedTable<String, Int>()
        table.append("a", 1)
        table.append("b", 2)
        table.remove("a")
        table.append("a", 3)
        #expect(table.keys == ["b", "a"])
        #expect(table["a"] == 3)
    }
}
