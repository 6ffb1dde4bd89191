import Foundation
import Multipeer
import MultipeerCommandLine
@unsafe @preconcurrency import MultipeerConnectivity

/// `multipeer invite`: shows the peers of a browser controller, and carries out typed commands.
@MainActor
final class InviteBrowser {
    private let connectivity: ConnectivitySession
    private let options: DiscoveryOptions
    private let controller: MCBrowserViewController
    private let screen = Screen(isQuiet: false)
    private let isOver = Promise<CommandError?>()
    private let (lines, queue) = AsyncStream<String>.makeStream()
    /// The last event shown for each peer, and its number.
    private var told: [PeerID: (event: NearbyLine.Event, number: Int)] = [:]
    private var lastNumber = 0
    private var verdict: InviteBrowserDelegate?

    init(_ connectivity: ConnectivitySession, _ options: DiscoveryOptions, least: Int, most: Int) {
        self.connectivity = connectivity
        self.options = options
        let browser = MCNearbyServiceBrowser(
            peer: unsafe connectivity.session.myPeerID, serviceType: options.service.name,
            configuration: options.configuration)
        controller = MCBrowserViewController(browser: browser, session: unsafe connectivity.session)
        controller.minimumNumberOfPeers = least
        controller.maximumNumberOfPeers = most
    }

    /// Runs until the user is done, or cancels, which is an error.
    func run(for time: Duration?) async throws(CommandError) {
        screen.begin()
        if screen.isTerminal {
            screen.note(
                "you are \(connectivity.peer.introduction), looking for \(options.service) \(options.place); type a number or "
                    + "a name to invite, 'list', 'done' or 'cancel'")
        }
        verdict = InviteBrowserDelegate { [isOver] in
            isOver.send($0 ? nil : CommandError("cancelled", exit: .linkFailed))
        }
        controller.delegate = verdict
        controller.onChange = { [weak self] in self?.tellChanges() }
        let tasks = [
            Task { await self.write() }, Task { await self.read() },
            Task { [isOver] in
                if let time, (try? await Task.sleep(for: time)) != nil {
                    isOver.send(CommandError("timed out", exit: .linkFailed))
                }
            },
        ]
        controller.start()
        let commandError = await isOver.value()
        controller.onChange = nil
        controller.stop()
        for task in tasks { task.cancel() }
        screen.end()
        await connectivity.leave()
        if let commandError { throw commandError }
    }

    // MARK: input

    private func read() async {
        do throws(CommandError) {
            while let line = try await screen.next() {
                guard case .text(let text) = line else {
                    screen.tell("line too long")
                    continue
                }
                obey(text.trimmingCharacters(in: .whitespaces))
            }
            if !controller.done() { controller.cancel() }
        } catch {
            isOver.send(error)
        }
    }

    private func obey(_ text: String) {
        switch text {
        case "": break
        case "list", "l": list()
        case "cancel", "c": controller.cancel()
        case "done", "d":
            let missing = controller.minimumNumberOfPeers
            if !controller.done() {
                screen.tell(
                    "connect to at least one more peer first (minimum: \(missing), including this one)")
            }
        default: invite(text)
        }
    }

    private func invite(_ text: String) {
        let peers = controller.nearbyPeers.map(\.peerID)
        let meant: [MCPeerID]
        if let number = Int(text) {
            meant = peers.filter { told[$0.id]?.number == number }
        } else {
            let selected = PeerSelector(text)?.matches(peers.map(\.id)) ?? []
            meant = peers.filter { selected.contains($0.id) }
        }
        guard let peer = meant.first else { return screen.tell("no peer '\(text.printable)' found") }
        guard meant.count == 1 else {
            return screen.tell(
                "'\(text.printable)' can be any of \(meant.count) peers; choose one by its number")
        }
        if !controller.canInvite {
            screen.tell("there are already \(controller.maximumNumberOfPeers) peers, including this one")
        } else if !controller.invite(peer) {
            screen.tell("\(peer.id.introduction) cannot be invited now")
        }
    }

    // MARK: output

    private func list() {
        let peers = controller.nearbyPeers
        if peers.isEmpty { screen.tell("no peers found") }
        for peer in peers {
            let known = told[peer.peerID.id]
            let line = NearbyLine(
                known?.event ?? .found, known?.number, peer.peerID.id, info: peer.discoveryInfo ?? [:])
            put(line)
        }
    }

    private func tellChanges() {
        let peers = controller.nearbyPeers
        for peer in peers {
            let event = NearbyLine.Event(peer.state)
            let id = peer.peerID.id
            if told[id]?.event == event { continue }
            if told[id] == nil {
                lastNumber += 1
                told[id] = (.found, lastNumber)
                put(NearbyLine(.found, lastNumber, id, info: peer.discoveryInfo ?? [:]))
            }
            if event != .found, let number = told[id]?.number { put(NearbyLine(event, number, id)) }
            told[id]?.event = event
        }
        let here = Set(peers.map(\.peerID.id))
        for (id, known) in told.filter({ !here.contains($0.key) }).sorted(by: {
            $0.value.number < $1.value.number
        }) {
            told[id] = nil
            put(NearbyLine(.lost, known.number, id))
        }
        if let failure = controller.failure {
            isOver.send(
                CommandError(
                    failure.localizedDescription.printable, hint: "run 'multipeer doctor' to diagnose",
                    exit: .system
                ))
        }
    }

    private func put(_ line: NearbyLine) {
        if screen.isTerminal { screen.tell(line.sentence) } else { queue.yield("\(line.text)\n") }
    }

    /// A slow reader of standard output delays only this output.
    private func write() async {
        for await line in lines {
            do throws(CommandError) { try await screen.put(line) } catch { isOver.send(error) }
        }
    }
}

extension NearbyLine.Event {
    fileprivate init(_ state: MCNearbyPeer.State) {
        switch state {
        case .found: self = .found
        case .invited: self = .invited
        case .connected: self = .connected
        case .notConnected: self = .notConnected
        }
    }
}

/// How it ended.
private final class InviteBrowserDelegate: NSObject, MCBrowserViewControllerDelegate, Sendable {
    private let end: @Sendable (Bool) -> Void

    init(_ end: @escaping @Sendable (Bool) -> Void) { self.end = end }

    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) { end(true) }
    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) { end(false) }
}
