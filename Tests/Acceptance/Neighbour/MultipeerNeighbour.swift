import Foundation
import MultipeerCore
import MultipeerDiscovery
import MultipeerOrders
import MultipeerTransport

/// A peer that advertises and browses, executes commands from its standard input, and writes its events: one JSON
/// object per line, with the time `t` of a clock that all processes of the machine share.
@main
enum MultipeerNeighbour {
    private static let usage = """
        usage: MultipeerNeighbour TYPE NAME [--interfaces NAMES] [--ttl SECONDS] [--silent] [--deaf] [--resolve]
               lines: info KEY=VALUE, resolve UID, reconfirm UID, stop, quit
        """

    private struct Options {
        var configuration = DiscoveryConfiguration.loopback
        var isSilent = false
        var isDeaf = false
        var resolves = false
    }

    static func main() async {
        do {
            let words = Array(CommandLine.arguments.dropFirst())
            guard words.count >= 2 else { throw Complaint(usage) }
            var uid = SystemRandomness()
            guard let bytes = UID(uid.bytes(UID.byteCount)) else { throw Complaint("no uid") }
            let peer = try PeerID(validating: bytes, displayName: words[1])
            let options = try options(words.dropFirst(2))
            try await Neighbour(
                peer, try ServiceType(parsing: words[0]), try options.configuration.chosenBackend(),
                resolves: options.resolves
            ).run(isSilent: options.isSilent, isDeaf: options.isDeaf)
        } catch {
            say("failed", ["error": "\(error)"])
            exit(1)
        }
    }

    private static func options(_ words: ArraySlice<String>) throws -> Options {
        var (options, words) = (Options(), words)
        while let word = words.popFirst() {
            switch word {
            case "--silent": options.isSilent = true
            case "--deaf": options.isDeaf = true
            case "--resolve": options.resolves = true
            case "--interfaces":
                let names = (words.popFirst() ?? "").split(separator: ",").map(String.init)
                options.configuration.interfaces = .only(names)
            case "--ttl": options.configuration.hostTTL = .seconds(Int(words.popFirst() ?? "") ?? 0)
            default: throw Complaint(usage)
            }
        }
        return options
    }
}

/// Writes an event.
func say(_ event: String, _ fields: [String: any Sendable] = [:]) {
    var object = fields as [String: Any]
    object["event"] = event
    object["t"] = EventLoop.currentMoment().nanoseconds
    guard var line = try? JSONSerialization.data(withJSONObject: object, options: .sortedKeys) else { return }
    line.append(0x0a)
    try? FileHandle.standardOutput.write(contentsOf: line)
}
