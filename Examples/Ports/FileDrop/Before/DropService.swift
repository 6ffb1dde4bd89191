import MultipeerConnectivity

/// A file on its way, in either direction.
struct Transfer {
    let id = UUID()
    let name: String
    let peer: String
    var fraction = 0.0
}

/// What the screen shows; called on the main queue.
protocol DropServiceDelegate: AnyObject {
    func drop(_ drop: DropService, didChangePeers peers: [String])
    func drop(_ drop: DropService, didProgress transfer: Transfer)
    /// `file` is where a received file was put; nil for a file that was sent, and with an error.
    func drop(_ drop: DropService, didFinish transfer: Transfer, file: URL?, error: Error?)
}

/// Sends files to every connected device, and puts received ones into a folder.
final class DropService: NSObject {
    weak var delegate: DropServiceDelegate?
    let session: MCSession
    /// Asks the user about each invitation.
    let assistant: MCAdvertiserAssistant
    private let folder: URL
    private var incoming: [String: Transfer] = [:]
    #if canImport(ObjectiveC)
        private var observations: [UUID: NSKeyValueObservation] = [:]
    #endif

    init(name: String, serviceType: String, folder: URL) {
        self.folder = folder
        session = MCSession(peer: MCPeerID(displayName: name))
        assistant = MCAdvertiserAssistant(serviceType: serviceType, discoveryInfo: nil, session: session)
        super.init()
        session.delegate = self
    }

    func send(_ file: URL) {
        for peer in session.connectedPeers {
            let transfer = Transfer(name: file.lastPathComponent, peer: peer.displayName)
            let progress = session.sendResource(at: file, withName: transfer.name, toPeer: peer) { error in
                DispatchQueue.main.async { self.finish(transfer, error: error) }
            }
            if let progress { follow(progress, of: transfer) }
        }
    }

    /// Reports the progress of a transfer until it ends.
    private func follow(_ progress: Progress, of transfer: Transfer) {
        #if canImport(ObjectiveC)
            observations[transfer.id] = progress.observe(\.fractionCompleted) { [weak self] progress, _ in
                let fraction = progress.fractionCompleted
                DispatchQueue.main.async { self?.progress(transfer, fraction) }
            }
        #endif
    }

    private func progress(_ transfer: Transfer, _ fraction: Double) {
        var transfer = transfer
        transfer.fraction = fraction
        delegate?.drop(self, didProgress: transfer)
    }

    private func finish(_ transfer: Transfer, file: URL? = nil, error: Error?) {
        #if canImport(ObjectiveC)
            observations[transfer.id] = nil
        #endif
        delegate?.drop(self, didFinish: transfer, file: file, error: error)
    }

    /// Moves a received file into the folder, under a name that is not taken. A sender's name for it may look like a path.
    private func keep(_ file: URL, as name: String) throws -> URL {
        let name = (name as NSString).lastPathComponent
        var kept = folder.appendingPathComponent(name)
        if FileManager.default.fileExists(atPath: kept.path) {
            kept = folder.appendingPathComponent("\(UUID().uuidString) \(name)")
        }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.moveItem(at: file, to: kept)
        return kept
    }
}

extension DropService: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        guard state != .connecting else { return }
        DispatchQueue.main.async {
            self.delegate?.drop(self, didChangePeers: session.connectedPeers.map(\.displayName))
        }
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        let transfer = Transfer(name: resourceName, peer: peerID.displayName)
        DispatchQueue.main.async {
            self.incoming["\(peerID.hash) \(resourceName)"] = transfer
            self.follow(progress, of: transfer)
        }
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: Error?
    ) {
        // The file is gone when this method returns.
        let result = Result { try localURL.map { try keep($0, as: resourceName) } }
        DispatchQueue.main.async {
            guard let transfer = self.incoming.removeValue(forKey: "\(peerID.hash) \(resourceName)")
            else { return }
            switch result {
            case .success(let file): self.finish(transfer, file: file, error: error)
            case .failure(let error): self.finish(transfer, error: error)
            }
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {}

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {}
}
