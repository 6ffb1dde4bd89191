/// Looks for the size of the largest packets that reach a peer, where larger ones vanish without a word.
///
/// Pure: it says which sizes to try, and is given what arrived.
package struct PathSearch: Equatable, Sendable {
    /// The largest packet that has arrived, and the smallest that has not, in bytes.
    package private(set) var arrived: Int
    package private(set) var lost: Int
    private var isFirst = true

    /// The sizes of usual ways: the least of IPv4 and of IPv6, and that of a tunnel.
    private static let usual = [576, 1_280, 1_400]

    /// `lost`: has to be larger than `arrived`.
    package init(arrived: Int, lost: Int) {
        self.arrived = arrived
        self.lost = lost
    }

    /// Returns the sizes to try next, at once: a peer takes four connections from one address. None is left at the end.
    package var sizes: [Int] {
        guard lost - arrived > 1 else { return [] }
        if isFirst {
            let usual = PathSearch.usual.filter { $0 > arrived && $0 < lost }
            if !usual.isEmpty { return usual }
        }
        return Set((1...3).map { arrived + (lost - arrived) * $0 / 4 }.filter { $0 > arrived }).sorted()
    }

    /// Takes what became of packets: their sizes, and whether they arrived.
    package mutating func note(_ packets: [(size: Int, hasArrived: Bool)]) {
        isFirst = false
        for packet in packets where packet.hasArrived && packet.size < lost {
            arrived = max(arrived, packet.size)
        }
        for packet in packets where !packet.hasArrived && packet.size > arrived {
            lost = min(lost, packet.size)
        }
    }
}
