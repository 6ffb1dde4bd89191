import MultipeerCommandLine
import MultipeerEssentials

/// Says, once, that another machine announces the id of this one. The two never find each other, whatever else is right: discovery
/// leaves out one's own id.
enum DuplicateID {
    private static let isSaid = Locked(false)

    static func watch(
        _ browser: Browser, say: @escaping @Sendable (String) async -> Void = { Terminal.warn($0) }
    ) {
        Task { await note(await browser.waitUntilDuplicated(), of: browser.peer, say) }
    }

    static func watch(_ advertiser: Advertiser) {
        Task { await note(await advertiser.waitUntilDuplicated(), of: advertiser.peer) { Terminal.warn($0) } }
    }

    private static func note(_ address: String?, of peer: PeerID, _ say: (String) async -> Void) async {
        guard let address, isSaid.setFirst() else { return }
        await say("\(text(address, peer.uid)); \(remedy(PeerOptions.file))")
    }

    static func text(_ address: String, _ uid: UID) -> String {
        "another machine, at \(address.printable), has the id of this one, #\(uid.shortDigits), and the two cannot find each other"
    }

    /// What gives one of the two another id. `file`: where the id is kept.
    static func remedy(_ file: String?) -> String {
        guard let file else { return "start this command again for a new one" }
        let path = UserDirectory.shown(file)
        return
            "if \(path) is a copy, run '\(Terminal.name) identity new --force --out \(path)' on one of them, "
            + "and start its commands again"
    }
}

extension UID {
    /// As many digits as people compare at a glance.
    var shortDigits: String { String(bytes.hexadecimal.prefix(8)) }
}
