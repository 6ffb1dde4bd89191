extension Scenario.Generator {
    /// Draws streams, files, verification codes and marks, and what hinders them.
    mutating func drawTraffic() {
        if traffic.chance(oneIn: 4) { return }
        for index in made.peers.indices {
            made.peers[index].window = traffic.pick([2_048, 16_384, 262_144, 262_144])
            if traffic.chance(oneIn: 6) { made.peers[index].memory = traffic.pick([8_192, 32_768]) }
            if traffic.chance(oneIn: 4) { made.peers[index].rate = traffic.pick([200_000, 800_000]) }
        }
        if traffic.chance(oneIn: 12) { drawVisits() }
        for _ in 0..<traffic.uniform(1...8) { at(moment(), .transfer(somebody(), transfer())) }
        for _ in 0..<traffic.uniform(0...3) {
            at(moment(), .code(somebody(), milliseconds: traffic.pick([500, 5_000, 30_000])))
        }
        for _ in 0..<traffic.uniform(0...4) { at(moment(), .flush(somebody())) }
    }

    /// Draws a peer that connects again and again, sends as much as it may, and crashes, while the host takes nothing.
    private mutating func drawVisits() {
        let host = somebody()
        let guest = (host + 1) % made.peers.count
        made.peers[host].credit = 4_096
        let begin = traffic.uniform(4_000...6_000)
        at(begin, .slow(host, milliseconds: 14_000))
        for visit in 0..<5 {
            let start = begin + 500 + visit * 2_600
            at(start, .crash(guest, isSilent: false))
            at(start + 100, .start(guest, newPort: false))
            at(start + 200, .direct(guest, host))
            at(start + 2_300, .burst(guest, messages: 60))
        }
    }

    private mutating func moment() -> Int { traffic.uniform(2_000...(made.end - 1)) }

    private mutating func somebody() -> Int { traffic.uniform(0...(made.peers.count - 1)) }

    private mutating func transfer() -> Scenario.Transfer {
        let bytes = traffic.uniform(0...traffic.pick([1, 200, 5_000, 5_000, 60_000]))
        let isFile = traffic.chance(oneIn: 3)
        return switch traffic.uniform(0...5) {
        case 0: .init(isFile: isFile, bytes: bytes, end: .reset(after: traffic.uniform(0...bytes)))
        case 1: .init(isFile: isFile, bytes: bytes, end: .stopped(after: traffic.uniform(0...bytes)))
        default: .init(isFile: isFile, bytes: bytes, end: .finished)
        }
    }
}
