import MultipeerConnectivity

// Files: sending, receiving, their progress.

// idiom: a file is sent without a completion handler

func share(_ url: URL, in session: MCSession) {
    for peer in session.connectedPeers {
        session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer)
    }
}

// idiom: a file is sent, and the completion handler prints the result

func share(_ url: URL, with peer: MCPeerID, in session: MCSession) {
    session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) { error in
        if let error = error {
            print("Error: \(error.localizedDescription)")
        } else {
            print("\(url.lastPathComponent) has arrived")
        }
    }
}

// idiom: data is sent as a temporary file, which is removed afterwards

func sendLarge(_ data: Data, to peer: MCPeerID, in session: MCSession) throws -> Progress? {
    let url = URL(fileURLWithPath: NSTemporaryDirectory()).appendingPathComponent(UUID().uuidString)
    try data.write(to: url)
    return session.sendResource(at: url, withName: "snapshot", toPeer: peer) { _ in
        try? FileManager.default.removeItem(at: url)
    }
}

// idiom: the progress of every transfer, and a method that cancels all of them

final class Uploads {
    private var running: [MCPeerID: Progress] = [:]

    func start(_ url: URL, to peer: MCPeerID, in session: MCSession) {
        running[peer]?.cancel()
        running[peer] = session.sendResource(
            at: url, withName: "upload", toPeer: peer, withCompletionHandler: nil)
    }

    var fraction: Double {
        running.isEmpty ? 0 : running.values.map(\.fractionCompleted).reduce(0, +) / Double(running.count)
    }

    func cancel() { running.values.forEach { $0.cancel() } }
}

// idiom: one progress for the transfers to several peers

func shareWithAll(_ url: URL, in session: MCSession) -> Progress {
    let whole = Progress(totalUnitCount: Int64(session.connectedPeers.count))
    for peer in session.connectedPeers {
        whole.becomeCurrent(withPendingUnitCount: 1)
        session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer)
        whole.resignCurrent()
    }
    return whole
}

// idiom: a received file is moved before the delegate method returns

final class FileReceiver: SilentSessionDelegate {
    var folder = FileManager.default.temporaryDirectory
    private(set) var files: [URL] = []

    override func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: Error?
    ) {
        guard error == nil, let localURL = localURL else { return }
        let url = folder.appendingPathComponent(UUID().uuidString).appendingPathExtension(
            localURL.pathExtension)
        do {
            try FileManager.default.moveItem(at: localURL, to: url)
            files.append(url)
        } catch {
            print("cannot keep \(resourceName): \(error)")
        }
    }
}

// idiom: the progress of incoming files, by name

final class DownloadList: SilentSessionDelegate {
    private(set) var progress: [String: Progress] = [:]

    override func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        if progress.totalUnitCount > 100_000_000 { return progress.cancel() }
        self.progress[resourceName] = progress
    }

    override func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) { progress[resourceName] = nil }

    var lines: [String] { progress.map { "\($0): \(Int($1.fractionCompleted * 100)) %" }.sorted() }
}

// idiom: a received file is read before the delegate method returns

final class SnapshotReceiver: SilentSessionDelegate {
    var onSnapshot: ((Result<Data, Error>) -> Void)?

    override func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: Error?
    ) {
        guard resourceName == "snapshot" else { return }
        onSnapshot?(
            Result {
                if let error { throw error }
                guard let localURL else { throw CocoaError(.fileNoSuchFile) }
                return try Data(contentsOf: localURL)
            })
    }
}

// idiom: the properties of a file's progress

func summary(of progress: Progress) -> String {
    let done = ByteCountFormatter.string(fromByteCount: progress.completedUnitCount, countStyle: .file)
    let rate = progress.throughput.map { "\($0) bytes a second" } ?? "?"
    let rest = progress.estimatedTimeRemaining.map { "\(Int($0)) s left" } ?? ""
    return progress.isFinished ? "done" : "\(done), \(rate) \(rest)"
}

// idiom: a web document is sent by its URL

func forward(_ address: String, to peer: MCPeerID, in session: MCSession) -> Bool {
    guard let url = URL(string: address), ["http", "https"].contains(url.scheme) else { return false }
    return session.sendResource(at: url, withName: url.lastPathComponent, toPeer: peer) != nil
}
