import MultipeerConnectivity

/// What the view controller was, at a terminal: `port-file-drop NAME FOLDER [FILE] [--service TYPE]`.
///
/// With a file, it invites every device nearby, sends the file to those that accept, and exits. Without one, it asks the user
/// about each invitation, and keeps what it receives in the folder.
@MainActor final class DropTerminal: NSObject {
    private let drop: DropService
    private let devices: MCBrowserViewController
    private let file: URL?
    private var isSending = false
    private var percent: [UUID: Int] = [:]

    init(name: String, folder: URL, file: URL?, serviceType: String) {
        drop = DropService(name: name, serviceType: serviceType, folder: folder)
        devices = MCBrowserViewController(serviceType: serviceType, session: drop.session)
        self.file = file
        super.init()
        drop.delegate = self
        devices.delegate = self
        drop.assistant.presenter = InputPresenter()
    }

    func start() {
        guard file != nil else { return drop.assistant.start() }
        // A screen would show the list, and invite the device that is tapped.
        devices.onChange = { [weak self] in
            guard let self else { return }
            for peer in devices.nearbyPeers where peer.state == .found { devices.invite(peer.peerID) }
        }
        devices.start()
    }

    nonisolated static func show(_ line: String) {
        FileHandle.standardOutput.write(Data("\(line)\n".utf8))
    }
}

extension DropTerminal: @preconcurrency DropServiceDelegate {
    func drop(_ drop: DropService, didChangePeers peers: [String]) {
        let names = peers.joined(separator: ", ")
        DropTerminal.show(peers.isEmpty ? "* not connected" : "* connected with \(names)")
        guard let file, !peers.isEmpty, !isSending else { return }
        isSending = true
        drop.send(file)
    }

    func drop(_ drop: DropService, didProgress transfer: Transfer) {
        let now = Int(transfer.fraction * 100)
        guard percent[transfer.id] != now else { return }
        percent[transfer.id] = now
        DropTerminal.show("\(transfer.name), \(transfer.peer): \(now) %")
    }

    func drop(_ drop: DropService, didFinish transfer: Transfer, file: URL?, error: Error?) {
        let result = error?.localizedDescription ?? file?.path ?? "received"
        DropTerminal.show("\(transfer.name), \(transfer.peer): \(result)")
        if self.file != nil { devices.done() }
    }
}

extension DropTerminal: @preconcurrency MCBrowserViewControllerDelegate {
    func browserViewControllerDidFinish(_ browserViewController: MCBrowserViewController) {
        drop.session.disconnect()
        exit(0)
    }

    func browserViewControllerWasCancelled(_ browserViewController: MCBrowserViewController) { exit(1) }
}

/// Asks about invitations where Apple's assistant shows an alert.
struct InputPresenter: MCInvitationPresenter {
    func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool {
        DropTerminal.show("\(invitation.inviter.displayName) wants to send files: y or n?")
        return await withCheckedContinuation { continuation in
            Thread.detachNewThread { continuation.resume(returning: readLine() == "y") }
        }
    }
}
