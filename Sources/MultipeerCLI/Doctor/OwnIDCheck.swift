import MultipeerCommandLine
package import MultipeerEssentials

/// Whether another machine announces the id that the user's commands have.
package struct OwnIDCheck: Sendable {
    package enum Outcome: Equatable, Sendable {
        /// Nothing was sent.
        case untried
        /// No other machine announces it now.
        case alone
        /// The address of one that does.
        case elsewhere(String)
        case failed(String)
    }

    private static let topic = "id"
    /// An announcement is answered within 120 ms, and a lost one asked for again after a second.
    private static let timeLimit = Duration.milliseconds(1_500)

    package let uid: UID
    package let file: String
    package let outcome: Outcome

    package init(_ uid: UID, in file: String, _ outcome: Outcome) {
        (self.uid, self.file, self.outcome) = (uid, file, outcome)
    }

    /// Returns the id that is kept, and where; nil while there is none.
    static func own() throws(CommandError) -> (uid: UID, file: String)? {
        let file = KeptIdentity.standardPath(try ConfigurationFile.read())
        return try KeptIdentity.uid(at: file).map { ($0, file) }
    }

    /// Looks for others with the id, if that is wanted; returns nil if none is kept, or it is unknown.
    static func look(_ options: DiscoveryOptions, sending: Bool) async -> Finding? {
        do throws(CommandError) {
            guard let (uid, file) = try own() else { return nil }
            let outcome = sending ? await search(uid, options) : .untried
            return OwnIDCheck(uid, in: file, outcome).finding
        } catch {
            return .problem(topic, "unknown: \(error.text)", hint: error.hint)
        }
    }

    private static func search(_ uid: UID, _ options: DiscoveryOptions) async -> Outcome {
        let found = Promise<Outcome>()
        do throws(MultipeerError) {
            let peer = try PeerID(uid: uid, displayName: "doctor")
            let browser = Browser(peer: peer, service: options.service, configuration: options.configuration)
            try await browser.start()
            let waiting = Task {
                if let address = await browser.waitUntilDuplicated() { found.send(.elsewhere(address)) }
            }
            let clock = Task {
                try await Task.sleep(for: timeLimit)
                found.send(.alone)
            }
            let outcome = await found.value()
            waiting.cancel()
            clock.cancel()
            await browser.stop()
            return outcome
        } catch {
            return .failed("\(error)")
        }
    }

    /// Returns a problem if a peer that was found is another machine with this one's id; nil otherwise. `addresses`: of the peer.
    static func finding(about peer: PeerID, at addresses: [SocketAddress]) throws(CommandError) -> Finding? {
        guard let (uid, file) = try own(), uid == peer.uid else { return nil }
        let here: [SocketAddress.Host]
        do throws(SocketFault) { here = try NetworkInterface.all().flatMap(\.addresses).map(\.host) } catch {
            throw CommandError("cannot list network interfaces: \("\(error)".printable)", exit: .system)
        }
        let own = Set(here.map(\.bytes))
        guard let first = addresses.first, !addresses.contains(where: { own.contains($0.host.bytes) }) else {
            return nil
        }
        return OwnIDCheck(uid, in: file, .elsewhere("\(first.host)")).finding
    }

    package var finding: Finding {
        let id = "#\(uid.shortDigits)"
        switch outcome {
        case .untried:
            return .note(
                OwnIDCheck.topic, "\(id): not tested whether another machine has it, too",
                hint: "use --send to test it")
        case .alone: return .ok(OwnIDCheck.topic, "\(id): no other machine announces it now")
        case .elsewhere(let address):
            return .problem(
                OwnIDCheck.topic, DuplicateID.text(address, uid), hint: DuplicateID.remedy(file))
        case .failed(let reason): return .note(OwnIDCheck.topic, "\(id): not tested: \(reason)")
        }
    }
}
