import MultipeerCore

extension Simulation {
    /// What a test does to the network of a simulation and to the computers on it.
    public struct Network {
        private let world: World

        init(_ world: World) { self.world = world }

        /// The delay of bytes.
        public enum Delay: Sendable {
            /// 0.5 to 4 ms.
            case short
            /// 1 to 60 ms.
            case usual
            /// 0.5 to 600 ms, most of it short, some of it very long.
            case wild
        }

        /// Sets the delay of connections that are dialled from now on.
        public func delay(_ delay: Delay) {
            world.network.conditions =
                switch delay {
                case .short: .calm
                case .usual: .fair
                case .wild: .wild
                }
        }

        /// Cuts `group` off from all other peers until `heal`; with `oneWay`, only what the group sends is lost.
        public func partition(_ group: [SimulatedPeer], oneWay: Bool = false) {
            world.network.split(
                group.reduce(0) { $0 | 1 << UInt32($1.index) }, isOneSided: oneWay, for: .max / 2)
        }

        /// Ends every partition.
        public func heal() { for number in world.network.partitions.indices { world.network.heal(number) } }

        /// Kills the link between two peers without notifying either: each finds out for itself.
        public func cut(_ one: SimulatedPeer, _ other: SimulatedPeer) {
            world.network.cut(one.index, other.index)
        }

        /// Stops both peers from dialling each other, or lets them again; an established link goes on.
        public func firewall(_ one: SimulatedPeer, _ other: SimulatedPeer, isUp: Bool = true) {
            world.network.reachability.setFirewall(one.index, other.index, isUp ? .silent : .open)
            world.network.reachability.setFirewall(other.index, one.index, isUp ? .silent : .open)
        }

        /// Stops a peer's process, as if by SIGSTOP.
        public func pause(_ peer: SimulatedPeer) { world.pause(world.nodes[peer.index]) }

        /// Resumes a stopped process.
        public func resume(_ peer: SimulatedPeer) { world.resume(world.nodes[peer.index]) }

        /// Kills a peer's process; with `silently`, its computer is gone, too, so that no peer is notified.
        public func crash(_ peer: SimulatedPeer, silently: Bool = false) {
            world.crash(world.nodes[peer.index], isSilent: silently)
        }

        /// Restarts a peer, after `crash` or instead of it: the same id, a new session that knows no peers.
        public func restart(_ peer: SimulatedPeer) {
            world.crash(world.nodes[peer.index], isSilent: false)
            world.start(world.nodes[peer.index])
        }

        /// Makes a computer's clock jump ahead, as after a sleep.
        public func sleep(_ peer: SimulatedPeer, for duration: Duration) {
            world.jump(world.nodes[peer.index], by: duration.wholeNanoseconds)
        }
    }
}
