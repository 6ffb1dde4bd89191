import Foundation
import Multipeer
import MultipeerCommandLine

/// What a `session` request asks for.
struct ShimOptions: Sendable {
    /// What the application does with incoming resources.
    enum IncomingPolicy: Sendable {
        case take, hold, refuse
    }

    let peer: PeerID
    let configuration: Session.Configuration
    let resources: IncomingPolicy
    let folder: URL?
    /// Whether what arrived of a file stays when its link ends.
    let resumes: Bool

    /// The closure receives the name of the session, and the evidence to be judged.
    init(
        _ request: inout ShimRequest, asking tell: @escaping @Sendable (String, TrustEvidence) async -> Void
    ) throws(ShimFault) {
        peer = try ShimOptions.peer(&request)
        resources =
            try request.word("resources", ["receive": .take, "hold": .hold, "decline": .refuse]) ?? .take
        resumes = try request.flag("resumes") ?? false
        folder = try request.text("receiving").map { URL(fileURLWithPath: $0, isDirectory: true) }
        let preference = try request.word(
            "preference", ["required": EncryptionPreference.required, "optional": .optional, "none": .none])
        var configuration = Session.Configuration(encryption: preference ?? .required)
        configuration.listenAddresses = try request.addresses("listen") ?? [.loopback]
        configuration.allowsDatagrams = try request.flag("datagrams") ?? true
        configuration.identity = try request.text("identity").map(ShimOptions.identity)
        configuration.keyLog = try request.text("keylog").map(ShimOptions.keyLog)
        if let policy = try ShimOptions.trust(&request, peer.displayName, tell) {
            configuration.trust = policy
        }
        try ShimOptions.limit(&configuration, &request)
        self.configuration = configuration
    }

    private static func peer(_ request: inout ShimRequest) throws(ShimFault) -> PeerID {
        let name = try request.text("name") ?? "subject"
        if let uid = try request.uid("uid") { return try ShimRequest.peer(uid, name) }
        do throws(MultipeerError) {
            return try PeerID(displayName: name)
        } catch {
            throw .invalid("\(error)")
        }
    }

    private static func identity(_ path: String) throws(ShimFault) -> Identity {
        do {
            return try Identity(parsing: try AtomicFile.read(path), passphrase: nil)
        } catch {
            throw .invalid("\(error)")
        }
    }

    private static func keyLog(_ path: String) throws(ShimFault) -> KeyLog {
        do {
            return try KeyLog(file: path) { Terminal.warn("key log stopped: \($0)") }
        } catch {
            throw .invalid("\(error)")
        }
    }

    private enum Trust {
        case accept, reject, hang, late
    }

    private static func trust(
        _ request: inout ShimRequest, _ name: String,
        _ tell: @escaping @Sendable (String, TrustEvidence) async -> Void
    ) throws(ShimFault) -> TrustPolicy? {
        let trust = try request.word(
            "trust", ["accept": Trust.accept, "reject": .reject, "hang": .hang, "late": .late])
        let delay = try request.seconds("trustDelay") ?? .seconds(5)
        guard let trust else { return nil }
        return .ask { evidence in
            await tell(name, evidence)
            switch trust {
            case .accept: return true
            case .reject: return false
            case .hang: return (try? await Task.sleep(for: .seconds(3_600))) != nil
            case .late: return (try? await Task.sleep(for: delay)) != nil
            }
        }
    }

    private static func limit(
        _ configuration: inout Session.Configuration, _ request: inout ShimRequest
    ) throws(ShimFault) {
        guard var limits = try request.object("limits") else { return }
        if let bytes = try limits.count("maxMessage") { configuration.maximumMessageSize = bytes }
        if let bytes = try limits.count("messageCredit") {
            configuration.overrides.messageCredit = try ShimOptions.window(bytes, "messageCredit")
        }
        if let bytes = try limits.count("channelCredit") {
            configuration.overrides.channelCredit = try ShimOptions.window(bytes, "channelCredit")
        }
        if let count = try limits.count("channels") { configuration.maximumStreams = count }
        if let count = try limits.count("peers") { configuration.maximumPeers = count }
        if let time = try limits.seconds("connectTimeout") { configuration.connectTimeout = time }
        if let time = try limits.seconds("keepAliveInterval") { configuration.keepAliveInterval = time }
        if let time = try limits.seconds("idleTimeout") { configuration.idleTimeout = time }
        try limits.end()
    }

    /// Returns a window that fits HELLO; with less than one frame, the peer could not send.
    private static func window(_ bytes: Int, _ name: String) throws(ShimFault) -> UInt32 {
        guard let window = UInt32(exactly: bytes), window >= 4_096 else {
            throw .invalid("\(name) is not from 4096 to 4294967295")
        }
        return window
    }
}
