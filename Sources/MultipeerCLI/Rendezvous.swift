import Foundation
import Multipeer

/// The way to a link with one peer: our data out, theirs in; and the farewell, which leaves nothing behind.
final class Rendezvous: Sendable {
    static let options = [Verification.option] + Exchange.options + SessionOptions.options

    let session: Session
    let isQuiet: Bool
    let isVerbose: Bool
    private let isMesh: Bool
    private let exchange: Exchange
    private let verification: Verification?
    private let state = Locked(State())

    private struct State: Sendable {
        var leaving: Task<Void, Never>?
        var data: ConnectionData?
    }

    /// Looks at all options of the exchange and of the session; nothing touches the network yet.
    init(_ arguments: Arguments, takingOperand: Bool) throws(Complaint) {
        try arguments.exclude(["--verbose", "--quiet"])
        exchange = try Exchange(arguments, takingOperand: takingOperand)
        let options = try SessionOptions(arguments)
        verification = try Verification(arguments, options.configuration)
        session = try Complaint.translating { () throws(MultipeerError) in
            try Session(peer: options.peer, configuration: options.configuration)
        }
        isQuiet = arguments.has("--quiet")
        isVerbose = arguments.has("--verbose")
        isMesh = arguments.has("--mesh")
    }

    /// Swaps the data, links, and lets the users compare a code if that is asked for; refuses a peer of another name than
    /// the one that is expected.
    func meet(expecting name: String? = nil) async throws(Complaint) -> PeerID {
        let mine = try await Complaint.translating { () async throws(MultipeerError) in
            try await session.connectionData(mesh: isMesh)
        }
        state.withLock { $0.data = mine }
        try exchange.own.publish(mine)
        let theirs = try await exchange.obtain(within: session.configuration.patience)
        if let name, theirs.peer.displayName != name {
            throw Complaint(
                "this connection data is of \(theirs.peer.displayName.printable), not of \(name.printable)",
                exit: .badInput)
        }
        try await connect(with: theirs)
        await introduce(theirs.peer)
        try await verification?.compare(with: theirs.peer, in: session)
        return theirs.peer
    }

    private func connect(with theirs: ConnectionData) async throws(Complaint) {
        do throws(MultipeerError) {
            try await session.connect(with: theirs)
        } catch {
            // Refused: the other side has yet to read our data to learn the same from it.
            if error.reason?.code != .timedOut { state.withLock { $0.data = nil } }
            throw Complaint(error)
        }
    }

    private func introduce(_ peer: PeerID) async {
        guard !isQuiet, let facts = await session.facts(for: peer) else { return }
        Terminal.say(
            "linked with \(peer.displayName.printable), \(facts.isEncrypted ? "encrypted" : "not encrypted")")
        guard isVerbose else { return }
        Terminal.say("peer id \(Dissection.hex(peer.uid.bytes)) at \(facts.address)")
        Terminal.say("protected by \(facts.suite ?? "nothing"), authenticated by \(facts.authentication)")
    }

    /// What is said when the peer wants to compare codes and this side does not.
    func refusal(to peer: PeerID) -> String? {
        verification == nil && !isQuiet ? Verification.refusal(to: peer) : nil
    }

    /// Says goodbye and cleans up, once; whoever comes second waits for the same end.
    func leave() async {
        let leaving = state.withLock { state in
            if let leaving = state.leaving { return leaving }
            let data = state.data
            let leaving = Task { [session, exchange] in
                await session.disconnect()
                exchange.own.retract(data)
            }
            state.leaving = leaving
            return leaving
        }
        await leaving.value
    }
}
