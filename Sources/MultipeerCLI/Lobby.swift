import Foundation
import Multipeer
@unsafe @preconcurrency import MultipeerConnectivity

/// `multipeer invite --wait`: an assistant that asks on the terminal who may come in.
struct Lobby: Sendable {
    private let party: Party
    private let options: DiscoveryOptions
    private let output = Worker("output")

    init(_ party: Party, _ options: DiscoveryOptions) {
        self.party = party
        self.options = options
    }

    /// Until the time is over.
    func run(for time: Duration?) async throws(Complaint) {
        let assistant = MCAdvertiserAssistant(
            serviceType: options.service.name, discoveryInfo: nil, session: unsafe party.session,
            configuration: options.configuration)
        assistant.start()
        Terminal.say("announcing \(party.peer.introduction) as \(options.service) \(options.place)")
        let isOver = Signal<Complaint?>()
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
        assistant.stop()
        await party.leave()
        if let complaint { throw complaint }
    }
}
