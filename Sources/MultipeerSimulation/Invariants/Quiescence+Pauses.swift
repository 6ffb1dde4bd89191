import MultipeerCore
import MultipeerEngine

// MARK: members that never met

extension Quiescence {
    /// The time from the end of a pause until both ends are linked: the last pause of the plan of dials and that of the mesh, 2 s
    /// and 2 s varied by up to 50 %, and a second for the handshake.
    private static let redialling = Duration.seconds(10)

    /// Returns how long it may take until all members of a component are linked: those whose first dials fell into a fault dial
    /// each other again after `IntroducedDials.firstPause`, doubled up to `longestPause`. Nil if that is over, or if some members
    /// without a link have no such reason. Spec 15.2.
    func introducedPause() -> Duration? {
        var longest: Duration?
        for component in components() where !hasByzantinePeer {
            for (place, one) in component.enumerated() {
                for other in component[(place + 1)...] where !areLinked(one, other) && mustLink(one, other) {
                    guard let pause = pause(one, other) else { return nil }
                    longest = max(longest ?? .zero, pause)
                }
            }
        }
        return longest
    }

    /// Returns the time until one of the two dials the other and has a link; nil if it should have one by now.
    private func pause(_ one: Node, _ other: Node) -> Duration? {
        var shortest: Duration?
        for (from, to) in [(one, other), (other, one)]
        where world.network.reachability.firewall(from.index, to.index) == .open {
            guard let address = to.candidate(), !hasReached(address, from),
                let end = from.mesh.pauseEnd(of: address, for: to.endpoint)
            else { return nil }
            let pause = end + Quiescence.redialling - world.moment(from)
            shortest = min(shortest ?? pause, pause)
        }
        return shortest.flatMap { $0 > .zero ? $0 : nil }
    }

    /// Returns whether a link was made when the present instance of the session dialled this address.
    private func hasReached(_ address: Candidate, _ node: Node) -> Bool {
        world.network.connections.contains {
            $0.dialler == node.index && $0.dialled == address && $0.record.isWhole
                && $0.record.instances[0] == node.endpoint.instance
        }
    }
}
