/// Numbers of channels that wait for something, first in, first out.
struct ChannelQueue: Sendable {
    private var numbers: [UInt32] = []
    private var head = 0

    var isEmpty: Bool { head == numbers.count }
    var first: UInt32? { isEmpty ? nil : numbers[head] }

    mutating func append(_ number: UInt32) { numbers.append(number) }

    mutating func removeFirst() {
        head += 1
        if head == numbers.count {
            numbers.removeAll(keepingCapacity: true)
            head = 0
        } else if head >= Self.husks, head > numbers.count / 2 {
            numbers.removeFirst(head)
            head = 0
        }
    }

    mutating func remove(_ number: UInt32) {
        guard let place = numbers[head...].firstIndex(of: number) else { return }
        numbers.remove(at: place)
    }

    /// The number of empty places at the front after which the rest moves up.
    private static let husks = 64
}
