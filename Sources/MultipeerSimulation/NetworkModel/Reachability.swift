/// Which node reaches which. Partitions may overlap: a path is open when none of them blocks it.
struct Reachability: Sendable {
    enum Firewall: UInt8, Sendable {
        case open
        /// Dials are refused, or get no answer. Established connections go on.
        case refusing, silent
    }

    private var count = 0
    private var blocks: [UInt8] = []
    private var firewalls: [Firewall] = []

    mutating func add() {
        let grown = count + 1
        var newBlocks = [UInt8](repeating: 0, count: grown * grown)
        var newFirewalls = [Firewall](repeating: .open, count: grown * grown)
        for from in 0..<count {
            for to in 0..<count {
                newBlocks[from * grown + to] = blocks[from * count + to]
                newFirewalls[from * grown + to] = firewalls[from * count + to]
            }
        }
        (count, blocks, firewalls) = (grown, newBlocks, newFirewalls)
    }

    func isOpen(_ from: Int, _ to: Int) -> Bool { blocks[from * count + to] == 0 }
    func firewall(_ from: Int, _ to: Int) -> Firewall { firewalls[from * count + to] }

    /// Blocks packets from `one` to `other`; calls are counted.
    mutating func block(_ one: Int, _ other: Int) { blocks[one * count + other] += 1 }
    mutating func unblock(_ one: Int, _ other: Int) { blocks[one * count + other] -= 1 }
    mutating func setFirewall(_ one: Int, _ other: Int, _ firewall: Firewall) {
        firewalls[one * count + other] = firewall
    }

    /// Returns whether packets get through both ways.
    func isWhole(_ one: Int, _ other: Int) -> Bool { isOpen(one, other) && isOpen(other, one) }

    /// Returns whether neither can dial the other.
    func isFirewalled(_ one: Int, _ other: Int) -> Bool {
        firewall(one, other) != .open && firewall(other, one) != .open
    }

    /// Returns whether packets get through both ways, and at least one can dial.
    func canMeet(_ one: Int, _ other: Int) -> Bool {
        isOpen(one, other) && isOpen(other, one) && !isFirewalled(one, other)
    }
}

/// A cut through the network: packets from one side to the other do not get through.
struct Partition: Sendable {
    /// Bit n: node n is on the near side.
    let near: UInt32
    let isOneSided: Bool
    var isUp = false
}
