// SPDX-License-Identifier: Apache-2.0
//
// The price of an access that Swift checks while the program runs: a counter is lent to a function of which the compiler knows
// nothing. A value's counter lies in a variable, where the compiler checks; an object's is a property of an object; the last is
// one, too, while six other objects are being accessed, as is usual inside the turn of a loop. A message of the library has
// about 60 checked accesses at each end.
//
//   CheckedAccess ACCESSES

import Glibc

typealias Change = (inout Int) -> Void

final class Counter {
    var count = 0

    @inline(never)
    func change(by change: Change) { change(&count) }

    @inline(never)
    func hold(by body: Change) { body(&count) }
}

@main
struct CheckedAccess {
    static func report(_ what: String, _ accesses: Int, _ body: () -> Int) {
        let clock = SuspendingClock()
        let start = clock.now
        guard body() == accesses else { exit(1) }
        let (seconds, attoseconds) = (clock.now - start).components
        let value = (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(accesses)
        print("{\"what\": \"\(what)\", \"value\": \(value), \"unit\": \"ns\"}")
    }

    /// Calls `body` while `others` are being accessed.
    static func during(_ others: ArraySlice<Counter>, _ body: () -> Void) {
        guard let first = others.first else { return body() }
        first.hold { _ in during(others.dropFirst(), body) }
    }

    @inline(never)
    static func change(_ counter: inout Int, by change: Change) { change(&counter) }

    static func main() {
        let accesses = CommandLine.arguments.count > 1 ? Int(CommandLine.arguments[1]) ?? 0 : 10_000_000
        guard accesses > 0 else { exit(64) }
        // Chosen at run time: the compiler must assume that it accesses the same counter.
        let changes: [Change] = [{ $0 &-= 1 }, { $0 &+= 1 }]
        let add = changes[accesses > 1 ? 1 : 0]
        report("access to a value's counter", accesses) {
            var counter = 0
            for _ in 0..<accesses { change(&counter, by: add) }
            return counter
        }
        let counters = (0..<8).map { _ in Counter() }
        report("access to an object's counter", accesses) {
            for _ in 0..<accesses { counters[0].change(by: add) }
            return counters[0].count
        }
        report("access to an object's counter, during six others", accesses) {
            during(counters[1...6]) {
                for _ in 0..<accesses { counters[7].change(by: add) }
            }
            return counters[7].count
        }
    }
}
