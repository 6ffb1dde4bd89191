import MultipeerCore
import TestSupport
import Testing

@Suite("Values by the number of their connection", .computing)
struct ConnectionMapTests {
    private func id(_ number: UInt32) -> ConnectionID { ConnectionID(rawValue: number) }

    @Test("behaves like a dictionary whose keys are in order")
    func likeADictionary() {
        var map = ConnectionMap<UInt32>()
        var expected: [ConnectionID: UInt32] = [:]
        #expect(map.isEmpty)
        for step in UInt32(0)..<400 {
            let key = id(step &* 2_654_435_761 % 23)
            switch step % 3 {
            case 0: #expect(map.removeValue(forKey: key) == expected.removeValue(forKey: key))
            case 1: (map[key], expected[key]) = (step, step)
            default: (map[key], expected[key]) = (step % 2 == 0 ? nil : step, step % 2 == 0 ? nil : step)
            }
            #expect(map.keys == expected.keys.sorted())
            #expect(map.values == expected.keys.sorted().compactMap { expected[$0] })
            #expect(map.isEmpty == expected.isEmpty)
            for number in UInt32(0)..<23 { #expect(map[id(number)] == expected[id(number)]) }
        }
    }
}
