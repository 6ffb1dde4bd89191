// SPDX-License-Identifier: Apache-2.0
//
// The limit of small messages: what the language costs for each message before the library does anything. An array of its own
// for each 64 bytes is one allocation and one release; each further owner, such as an event in a batch, is one atomic increment
// and one decrement.
final class Owner: Sendable {
    let number: Int
    init(_ number: Int) { self.number = number }
}

/// As large as an event with a message: bytes, an owner, and what kind it is.
enum Event {
    case message([UInt8], Owner, Bool)
    case end
}

/// Who owns the last value: each value is stored, which retains it, and the one before it is released. No call is inlined, so
/// that the compiler cannot leave either out.
final class LastOwner {
    private var owner = Owner(0)
    private var bytes: [UInt8] = []
    private var event = Event.end

    @inline(never) func keep(_ owner: Owner) { self.owner = owner }
    @inline(never) func keep(_ bytes: [UInt8]) { self.bytes = bytes }
    @inline(never) func keep(_ event: Event) { self.event = event }
}

@main
enum RetainRelease {
    private static let count = 4_096
    private static let rounds = 1_000

    static func main() {
        let last = LastOwner()
        let owners = (0..<count).map { Owner($0) }
        let bytes = [UInt8](repeating: 0x5A, count: 64)
        let arrays = (0..<count).map { _ in copy(of: bytes) }
        let events = zip(arrays, owners).map { Event.message($0, $1, true) }
        report("retain and release of one object", over: owners) { last.keep($0) }
        report("array of 64 bytes, made and released", over: arrays) { last.keep(copy(of: $0)) }
        report("event with an array of its own, made and released", over: arrays) {
            last.keep(Event.message(copy(of: $0), owners[0], true))
        }
        report("event copied from a batch, and released", over: events) { last.keep($0) }
        var sum = 0
        let joined = [UInt8](repeating: 1, count: 64 * count)
        report("64 bytes lent as a span of one allocation", over: [Int](0..<count)) { number in
            sum += Int(read(joined.span.extracting(number * 64..<number * 64 + 64)))
        }
        guard sum > 0 else { return print("nothing was read") }
    }

    @inline(never) private static func read(_ bytes: Span<UInt8>) -> UInt8 { bytes[0] &+ bytes[63] }

    @inline(never) private static func copy(of bytes: [UInt8]) -> [UInt8] {
        var copy = bytes
        copy[0] &+= 1  // the copy gets memory of its own
        return copy
    }

    /// Reports the time for each element; the best of the rounds, because what is shown is a limit.
    private static func report<Element>(_ what: String, over elements: [Element], _ body: (Element) -> Void) {
        let clock = ContinuousClock()
        var best = Duration.seconds(60)
        for _ in 0..<rounds {
            let start = clock.now
            for element in elements { body(element) }
            best = min(best, clock.now - start)
        }
        let nanos = Double(best.components.attoseconds) / 1e9 / Double(elements.count)
        print("{\"what\": \"\(what)\", \"value\": \(nanos), \"unit\": \"ns\"}")
    }
}
