import Multipeer
import MultipeerCore
import MultipeerDiscovery
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

/// The network on which peers find each other in a test: nothing of it leaves the machine.
enum Ground: String, CaseIterable, Sendable {
    case memory, multicast

    /// Returns a network that no other test shares.
    func network() throws -> (ServiceType, DiscoveryConfiguration) {
        let letters = (0..<10).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" }
        var configuration = DiscoveryConfiguration.loopback
        if self == .memory { configuration.backend = InMemoryDiscovery() }
        return (try ServiceType(String(letters)), configuration)
    }
}

/// A member that advertises and browses, invites and is invited.
struct Caller: Sendable {
    let member: Member
    let advertiser: Advertiser
    let browser: Browser
    var peer: PeerID { member.peer }
    var session: Session { member.session }

    init(
        _ name: String, _ network: (type: ServiceType, configuration: DiscoveryConfiguration),
        _ configuration: Session.Configuration = .loopback(), identity: Identity? = nil
    ) throws {
        member = try Member(name, configuration, identity: identity)
        advertiser = Advertiser(
            peer: member.peer, service: network.type, identity: identity,
            configuration: network.configuration)
        browser = Browser(peer: member.peer, service: network.type, configuration: network.configuration)
    }

    /// Returns callers that are running and have found each other.
    static func several(
        _ names: [String], _ ground: Ground = .memory, _ configuration: Session.Configuration = .loopback()
    ) async throws -> [Caller] {
        let network = try ground.network()
        let callers = try names.map { try Caller($0, network, configuration) }
        try await callers.start()
        return callers
    }

    func start() async throws {
        try await advertiser.start()
        try await browser.start()
    }

    func stop() async {
        await advertiser.stop()
        await browser.stop()
        await session.disconnect()
    }

    /// Waits until the browser has found these, among others.
    func finds(_ others: [PeerID]) async throws {
        try await within(.seconds(20)) {
            var missing = Set(others).subtracting(await browser.peers.map(\.peer))
            if missing.isEmpty { return }
            for await event in browser.events {
                if case .found(let found) = event { missing.remove(found.peer) }
                if missing.isEmpty { return }
            }
        }
    }

    func inviting(
        _ other: Caller, context: [UInt8]? = nil, timeout: Duration = .seconds(30)
    ) async -> Result<Void, MultipeerError> {
        do throws(MultipeerError) {
            try await browser.invite(other.peer, to: session, context: context, timeout: timeout)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Returns the next invitation.
    func invited() async throws -> Invitation {
        let invitation = try await within {
            for await invitation in advertiser.invitations { return Optional(invitation) }
            return nil
        }
        return try #require(invitation)
    }

    func accepting(_ invitation: Invitation) async -> Result<Void, MultipeerError> {
        do throws(MultipeerError) {
            try await invitation.accept(into: session)
            return .success(())
        } catch {
            return .failure(error)
        }
    }

    /// Invites another one, which accepts.
    func link(with other: Caller) async throws {
        async let asked = inviting(other)
        try await other.invited().accept(into: other.session)
        try await asked.get()
    }

    /// Returns the states of a peer that the session's application has received, once it is connected.
    func states(of other: Caller) async throws -> [PeerState] {
        try await within { await member.until { $0.heard[other.peer]?.contains(.connected) == true } }
        return await member.heard[other.peer, default: []]
    }

    /// Returns whether nothing ever happened between the session and that peer. It waits for an event after all earlier
    /// ones: a link to a new peer.
    func heardNothing(of other: Caller) async throws -> Bool {
        let witness = try Member("witness")
        let (mine, theirs) = (
            try await session.connectionData(), try await witness.session.connectionData()
        )
        async let first = session.trying(theirs)
        async let second = witness.session.trying(mine)
        _ = (try await first.get(), try await second.get())
        try await within { await member.until { $0.heard[witness.peer]?.contains(.connected) == true } }
        await witness.session.disconnect()
        return await member.heard[other.peer] == nil
    }
}

extension [Caller] {
    func start() async throws {
        for caller in self { try await caller.start() }
        for caller in self { try await caller.finds(map(\.peer).filter { $0 != caller.peer }) }
    }

    func stop() async {
        await withTaskGroup(of: Void.self) { group in
            for caller in self { group.addTask { await caller.stop() } }
        }
    }
}

extension Invitation {
    func declining() async -> Result<Void, MultipeerError> {
        do throws(MultipeerError) {
            try await decline()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
