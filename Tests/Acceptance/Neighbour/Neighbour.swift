import Foundation
import MultipeerCore
import MultipeerDiscovery
import MultipeerOrders
import MultipeerTransport

/// One peer and what it does.
struct Neighbour {
    private let peer: PeerID
    private let type: ServiceType
    private let backend: any DiscoveryBackend
    private let resolves: Bool

    init(_ peer: PeerID, _ type: ServiceType, _ backend: any DiscoveryBackend, resolves: Bool) {
        self.peer = peer
        self.type = type
        self.backend = backend
        self.resolves = resolves
    }

    func run(isSilent: Bool, isDeaf: Bool) async throws {
        var advertised: (any OngoingAdvertisement)?
        if !isSilent {
            let info = try DiscoveryInfo(validating: ["pid": "\(getpid())"])
            advertised = try await backend.advertise(
                Advertisement(peer: peer, type: type, port: 4_711, info: info))
            say("advertised", ["uid": peer.uid.text])
        }
        var listening: Task<Void, Never>?
        if !isDeaf {
            let events = try await backend.browse(type, hiding: peer)
            say("browsing")
            listening = Task { await listen(events) }
        }
        for await line in Orders.lines() {
            let words = line.split(separator: " ", maxSplits: 1).map(String.init)
            guard let order = words.first else { continue }
            if order == "quit" { break }
            try await obey(order, words.count > 1 ? words[1] : "", advertised)
        }
        listening?.cancel()
        await advertised?.stop()
        say("quit")
    }

    private func listen(_ events: DiscoveryEvents) async {
        for await event in events {
            switch event {
            case .found(let found):
                say("found", found.fields)
                if resolves { await resolve(found.peer) }
            case .updated(let found): say("updated", found.fields)
            case .lost(let lost): say("lost", ["name": lost.displayName, "uid": lost.uid.text])
            }
        }
    }

    private func resolve(_ other: PeerID) async {
        do throws(MultipeerError) {
            let found = try await backend.resolve(other, type, within: .seconds(5))
            say("resolved", ["uid": other.uid.text, "addresses": found.map(\.description)])
        } catch {
            say("unresolved", ["error": error.description])
        }
    }

    private func obey(
        _ order: String, _ value: String, _ advertised: (any OngoingAdvertisement)?
    ) async throws {
        switch order {
        case "info":
            let parts = value.split(separator: "=", maxSplits: 1).map(String.init)
            guard parts.count == 2 else { throw Complaint("missing KEY=VALUE") }
            try await advertised?.update(DiscoveryInfo(validating: [parts[0]: parts[1]]))
        case "resolve": await resolve(try other(value))
        case "reconfirm": await backend.miss(try other(value), type)
        case "stop": await advertised?.stop()
        default: throw Complaint("unknown command '\(order)'")
        }
        say("done", ["order": order])
    }

    private func other(_ text: String) throws -> PeerID {
        guard let uid = UID(text: text) else { throw Complaint("invalid uid: \(text)") }
        return try PeerID(validating: uid, displayName: "somebody")
    }
}

extension DiscoveredPeer {
    fileprivate var fields: [String: any Sendable] {
        ["name": peer.displayName, "uid": peer.uid.text, "info": info]
    }
}
