import Foundation
import Multipeer
@unsafe @preconcurrency import MultipeerConnectivity

/// `multipeer invite --wait`: an assistant that asks on the terminal who may come in.
struct Lobby: Sendable {
    private let party: Party
    private let options: DiscoveryOptions
    /// Safe: everything of it may be called from any thread.
    nonisolated(unsafe) private let assistant: MCAdvertiserAssistant
    private let output = Worker("output")

    init(_ party: Party, _ options: DiscoveryOptions) {
        self.party = party
        self.options = options
        unsafe assistant = MCAdvertiserAssistant(
            serviceType: options.service.name, discoveryInfo: nil, session: unsafe party.session,
            configuration: options.configuration)
    }

    /// Says goodbye to everybody, linked or not, and waits until that is said.
    func leave() async {
        unsafe await assistant.end()
        await party.leave()
    }

    /// Until the time is over.
    func run(for time: Duration?) async throws(Complaint) {
        unsafe assistant.start()
        Terminal.say("announcing \(party.peer.introduction) as \(options.service) \(options.place)")
        let isOver = Promise<Complaint?>()
        let telling = Task {
            for await (peer, state) in party.changes where state != .connecting {
                let line = NearbyLine(state == .connected ? .connected : .notConnected, nil, peer)
                do throws(Complaint) {
                    try await output.run { () throws(Complaint) in try Terminal.put("\(line.text)\n") }
                } catch {
                    isOver.send(error)
                }
            }
        }
        let timing = Task {
            if let time, (try? await Task.sleep(for: time)) != nil { isOver.send(nil) }
        }
        let complaint = await isOver.value()
        telling.cancel()
        timing.cancel()
        await leave()
        if let complaint { throw complaint }
    }
}
