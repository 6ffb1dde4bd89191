import MultipeerConnectivity

/// The answer to a peer's certificate.
enum CertificateAnswer: String {
    case yes, no, twice, never
    /// By a later command, from another thread.
    case later
}

extension Device {
    func sessionOrder(_ order: String, _ words: Words) throws -> Fields? {
        switch order {
        case "session": return try makeSession(words)
        case "identity":
            return try makeIdentity(try words.needed(0, "a name"), try words.needed(1, "a file"))
        case "certificates":
            let answer = try words.choice(0, CertificateAnswer.self)
            with { $0.certificates = answer }
        case "trust":
            let peer = try peer(try words.needed(0, "a peer"))
            guard let handler = with({ $0.certificateHandlers.removeValue(forKey: peer.mark) }) else {
                throw Complaint("no trust decision is pending for \(peer.displayName)")
            }
            handler(words[1] != "no")
        case "greet": with { $0.greeting = words[0] }
        case "connected":
            let peers = try session.connectedPeers
            return ["peers": peers.map(\.displayName).sorted(), "ids": peers.map(\.mark).sorted()]
        case "disconnect":
            let session = try session
            session.disconnect()
            return ["left": session.connectedPeers.count]
        case "release":
            formerSession = try session
            with { $0.session = nil }
        case "released": return ["gone": formerSession == nil]
        default: return nil
        }
        return [:]
    }

    /// `session [optional|required|none [IDENTITY [PASSPHRASE]]]`
    private func makeSession(_ words: Words) throws -> Fields {
        let session: MCSession
        if let word = words[0] {
            let preference = try Words.preference(word)
            let identity = try words[1].map { path -> [Any] in
                let identity = try MCIdentity(contentsOf: URL(fileURLWithPath: path), passphrase: words[2])
                return [identity] + identity.certificates.dropFirst().map { $0 as Any }
            }
            session = MCSession(peer: try me, securityIdentity: identity, encryptionPreference: preference)
        } else {
            session = MCSession(peer: try me)
        }
        session.delegate = self
        with { $0.session = session }
        return [
            "me": session.myPeerID == (try me), "identity": session.securityIdentity?.count ?? -1,
            "preference": session.encryptionPreference.rawValue, "peers": session.connectedPeers.count,
            "delegate": session.delegate === self,
        ]
    }

    private func makeIdentity(_ name: String, _ path: String) throws -> Fields {
        let identity = try MCIdentity.generate(commonName: name)
        try identity.pem().write(to: URL(fileURLWithPath: path))
        return ["certificates": identity.certificates.count]
    }
}

extension Words {
    fileprivate static func preference(_ word: String) throws -> MCEncryptionPreference {
        switch word {
        case "optional": .optional
        case "required": .required
        case "none": .none
        default: throw Complaint("\(word) is not a preference")
        }
    }
}

extension Device: MCSessionDelegate {
    func session(_ session: MCSession, peer peerID: MCPeerID, didChange state: MCSessionState) {
        heard("state", session) {
            var fields = note(peerID)
            fields["state"] = state.word
            fields["listed"] = session.connectedPeers.contains(peerID)
            fields["own"] = with { $0.session === session }
            guard state == .connected, let greeting = with({ $0.greeting }) else { return fields }
            do {
                try session.send(Data(greeting.utf8), toPeers: [peerID], with: .reliable)
                fields["greeted"] = true
            } catch {
                fields["greeted"] = "\(error)"
            }
            return fields
        }
    }

    func session(_ session: MCSession, didReceive data: Data, fromPeer peerID: MCPeerID) {
        heard("message", session) {
            var fields = note(peerID).merging(data.told) { old, _ in old }
            fields["number"] = Pattern.number(of: data)
            if data.count < 100 { fields["text"] = String(decoding: data, as: UTF8.self) }
            fields["listed"] = session.connectedPeers.contains(peerID)
            return fields
        }
    }

    func session(
        _ session: MCSession, didReceive stream: InputStream, withName streamName: String,
        fromPeer peerID: MCPeerID
    ) {
        heard("stream", session) {
            let (reading, gate) = with { state in
                // Dispatch traps when a semaphore is released below its initial value.
                let gate = DispatchSemaphore(value: 0)
                if state.reading != .later { gate.signal() }
                state.readers[streamName] = gate
                return (state.reading, gate)
            }
            Reader.begin(stream, streamName, reading, after: gate)
            return note(peerID).merging(["name": streamName]) { old, _ in old }
        }
    }

    func session(
        _ session: MCSession, didStartReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, with progress: Progress
    ) {
        heard("receiving", session) {
            with { $0.transfers[resourceName] = progress }
            var fields = note(peerID)
            fields["name"] = resourceName
            fields["total"] = Int(progress.totalUnitCount)
            return fields
        }
    }

    func session(
        _ session: MCSession, didFinishReceivingResourceWithName resourceName: String,
        fromPeer peerID: MCPeerID, at localURL: URL?, withError error: (any Error)?
    ) {
        heard("received", session) {
            var told = note(peerID)
            told["name"] = resourceName
            told["fraction"] = with { $0.transfers[resourceName]?.fractionCompleted }
            if let error { told.merge(fields(of: error)) { old, _ in old } }
            guard let localURL else { return told }
            do {
                told.merge(try keep(localURL, as: resourceName)) { old, _ in old }
            } catch {
                told["lost"] = "\(error)"
            }
            return told
        }
    }

    /// Keeps a received file, which is available only until the delegate returns.
    private func keep(_ file: URL, as name: String) throws -> Fields {
        let inbox = URL(fileURLWithPath: "inbox", isDirectory: true)
        try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
        let place = inbox.appendingPathComponent(name)
        try FileManager.default.moveItem(at: file, to: place)
        return ["path": place.path, "temporary": file.path]
    }

    func session(
        _ session: MCSession, didReceiveCertificate certificate: [Any]?, fromPeer peerID: MCPeerID,
        certificateHandler: @escaping @Sendable (Bool) -> Void
    ) {
        let answer = with { $0.certificates }
        heard("certificate", session) {
            if answer == .later { with { $0.certificateHandlers[peerID.mark] = certificateHandler } }
            var fields = note(peerID)
            fields["count"] = certificate?.count ?? -1
            fields["typed"] = certificate?.allSatisfy { $0 is MCCertificate } ?? true
            return fields
        }
        switch answer {
        case .yes: certificateHandler(true)
        case .no: certificateHandler(false)
        case .twice:
            certificateHandler(true)
            certificateHandler(false)
        case .later, .never: break
        }
    }
}
