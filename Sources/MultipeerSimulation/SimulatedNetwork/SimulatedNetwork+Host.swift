public import Multipeer
import MultipeerTransport

extension SimulatedNetwork {
    /// A machine on the network: sessions, browsers and advertisers with its configurations run on it.
    public struct Host: Sendable {
        /// The machine's peer.
        public let peer: PeerID

        let machine: VirtualHost
        let tasks: RunningTasks

        /// The machine's name.
        public var name: String { machine.name }

        /// Whether it has not been killed.
        public var isAlive: Bool { machine.isAlive }

        /// Returns a configuration for a session on this machine.
        public func session(
            _ configuration: Session.Configuration = Session.Configuration()
        ) -> Session.Configuration {
            var configuration = configuration
            configuration.overrides.host = machine
            return configuration
        }

        /// Returns a configuration for a browser or advertiser on this machine.
        public func discovery(
            _ configuration: DiscoveryConfiguration = DiscoveryConfiguration()
        ) -> DiscoveryConfiguration {
            var configuration = configuration
            configuration.host = machine
            return configuration
        }

        /// Starts a task like `SimulatedNetwork.task`, which is cancelled when the machine is killed.
        @discardableResult
        public func task<Value: Sendable>(
            file: String = #fileID, line: Int = #line, _ body: @escaping @Sendable () async throws -> Value
        ) -> Task<Value, any Error> {
            let task = tasks.begin("\(name), \(file):\(line)", on: machine.network.time, body)
            machine.onEnd { task.cancel() }
            return task
        }
    }
}

extension SimulatedNetwork.Host: Hashable, CustomStringConvertible {
    /// Returns whether both are the same machine.
    public static func == (one: Self, other: Self) -> Bool { one.machine === other.machine }
    /// Hashes the machine.
    public func hash(into hasher: inout Hasher) { hasher.combine(machine.number) }
    /// The machine's name.
    public var description: String { name }
}
