import Foundation
import Multipeer
import MultipeerCommandLine
@unsafe @preconcurrency import MultipeerConnectivity

/// `multipeer invite --wait`: an assistant that asks on the terminal about each invitation.
struct InviteAssistant: Sendable {
    private let connectivity: ConnectivitySession
    private let options: DiscoveryOptions
    /// Safe: all its members may be called from any thread.
    nonisolated(unsafe) private let assistant: MCAdvertiserAssistant
    private let output = Worker("output")

    init(_ connectivity: ConnectivitySession, _ options: DiscoveryOptions) {
        self.connectivity = connectivity
        self.options = options
        var discovery = options.configuration
        discovery.sharedPort = connectivity.port
        unsafe assistant = MCAdvertiserAssistant(
            serviceType: options.service.name, discoveryInfo: nil, session: unsafe connectivity.session,
            configuration: discovery)
    }

    /// Stops advertising and disconnects gracefully, and waits until that is done.
    func leave() async {
        unsafe await assistant.end()
        await connectivity.leave()
    }

    /// Runs until the time has elapsed.
    func run(for time: Duration?) async throws(CommandError) {
        unsafe assistant.start()
        Terminal.say("announcing \(connectivity.peer.introduction) as \(options.service) \(options.place)")
        let isOver = Promise<CommandError?>()
        let telling = Task {
            for await (peer, state) in connectivity.changes where state != .connecting {
                let line = NearbyLine(state == .connected ? .connected : .notConnected, nil, peer)
                do throws(CommandError) {
                    try await output.run { () throws(CommandError) in try Terminal.put("\(line.text)\n") }
                } catch {
                    isOver.send(error)
                }
            }
        }
        let timing = Task {
            if let time, (try? await Task.sleep(for: time)) != nil { isOver.send(nil) }
        }
        let commandError = await isOver.value()
        telling.cancel()
        timing.cancel()
        await leave()
        if let commandError { throw commandError }
    }
}
