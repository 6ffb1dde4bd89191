import Foundation
import MultipeerPlatform
import MultipeerSecurity

/// An incoming stream or resource. Spec 9.
final class PeerIncomingChannel {
    let number: UInt32
    private let opening: PeerChannelOpening
    private unowned let channels: PeerChannels
    let session: PeerSession
    private var shimNumber = 0
    private var granted: UInt64
    private var received: UInt64 = 0
    private var taken: UInt64 = 0
    private var digest: SHA256.Hasher? = SHA256.Hasher()
    private var bytes: [UInt8] = []
    private var emptyInARow = 0
    private var file: Int32 = -1
    private var path = ""
    /// What RESUME offered; nil when BEGIN is not due.
    private var offered: [UInt8]?
    /// The offset at which DATA begins.
    private var base: UInt64 = 0
    private(set) var wasStopped = false
    /// Whether the application takes no bytes now.
    var isHeld = false
    private(set) var isFinished = false
    private(set) var isOver = false

    init(_ number: UInt32, _ opening: PeerChannelOpening, _ channels: PeerChannels, isDeclined: Bool = false)
    {
        self.number = number
        self.opening = opening
        self.channels = channels
        session = channels.link.session
        granted = UInt64(session.window.channelCredit)
        wasStopped = isDeclined
    }

    private var bug: Bug? { session.bug }
    var isResource: Bool { opening.kind == 2 }
    /// Bytes that the application has not taken.
    var held: Int { Int(received - min(received, taken)) }

    func begin() {
        isHeld = session.application.isHolding && !isResource
        shimNumber = session.peer.register(incoming: self)
        var fields: [String: JSONValue] = [
            "from": .string(channels.link.uid.hex),
            "name": .string(
                String(
                    decoding: bug == .cleansNames ? opening.name.filter { $0 != 0x2f } : opening.name,
                    as: UTF8.self)),
        ]
        guard isResource else {
            fields["stream"] = .number(Double(shimNumber))
            return session.application.tell("stream", fields)
        }
        fields["resource"] = .number(Double(shimNumber))
        if let size = opening.size { fields["size"] = .number(Double(size)) }
        session.application.tell("resource-start", fields)
        let random = session.peer.randomBytes(12).hex
        let name = bug == .pathOfName ? String(decoding: opening.name, as: UTF8.self) : partName ?? random
        path = session.settings.folder + "/" + name
        let kept = partName == nil ? 0 : O_EXCL
        let flags =
            bug == .pathOfName ? O_CREAT | O_WRONLY : (O_CREAT | O_EXCL | O_NOFOLLOW | O_WRONLY) & ~kept
        file = unsafe path.withCString { unsafe MultipeerPlatform.open($0, flags | O_CLOEXEC, mode_t(0o600)) }
        let isShort = file < 0 && (errno == EMFILE || errno == ENFILE)
        if bug == .filesForEveryone { _ = fchmod(file, 0o644) }
        if isShort {
            stop(bug == .tooManyFilesIsInternal ? .internal : .tooManyFiles)
        } else if file < 0 {
            stop(.noSpace)
        } else if opening.isResumable {
            offer()
        }
    }

    /// The name under which what is there of a resource is found again.
    private var partName: String? {
        guard opening.isResumable, session.settings.resumes, let size = opening.size,
            let leaf = channels.link.connection.tls?.peerLeaf
        else { return nil }
        let key = bug == .partsOfAUID ? [] : SHA256.hash(leaf)
        let parts = channels.link.uid + key + opening.name + Array("\(size)".utf8)
        return "part-" + SHA256.hash(parts).prefix(8).map(\.self).hex
    }

    /// Sends RESUME with what is there. Spec 9.6.
    private func offer() {
        let there = FileManager.default.contents(atPath: path).map { [UInt8]($0) } ?? []
        let digest = bug == .resumeDigestOfNothing ? SHA256.hash([]) : SHA256.hash(there)
        offered = there
        if bug != .resumableIgnored {
            channels.link.send(.resume(number, UInt64(there.count), digest))
        }
    }

    func takeBegin(_ offset: UInt64) throws(ProtocolError) {
        if wasStopped { return }
        guard let there = offered else { throw .broken("BEGIN that no channel waits for") }
        try demand(
            offset == 0 || offset == UInt64(there.count) || bug == .beginsAnywhere, "BEGIN at \(offset)")
        offered = nil
        base = min(offset, UInt64(there.count))
        if base == 0 { _ = ftruncate(file, 0) } else { digest?.update(there) }
        _ = lseek(file, off_t(base), SEEK_SET)
    }

    // MARK: Receiving

    func take(_ piece: [UInt8]) throws(ProtocolError) {
        try demand(!isFinished || bug == .dataAfterFin, "DATA after FIN")
        try demand(offered == nil || wasStopped || bug == .dataBeforeBegin, "DATA before BEGIN")
        if wasStopped, bug == .refusesLateData { throw .broken("DATA after STOP") }
        emptyInARow = piece.isEmpty ? emptyInARow + 1 : 0
        try demand(emptyInARow <= 8 || bug == .emptyDataWithoutLimit, .flood, "empty DATA")
        received += UInt64(piece.count)
        try demand(
            received <= granted || bug == .noChannelCreditCheck, .flow,
            "beyond the credit of channel \(number)")
        guard !wasStopped else { return }
        if isResource { try store(piece) } else { bytes += piece }
        digest?.update(piece)
        if !isHeld { takeAll() }
    }

    /// Lets the application take all bytes that were received.
    func takeAll() {
        let most = UInt64(session.limits.channelCredit)
        taken = received
        if bug == .oneResourceAtATime, isResource, channels.hasResource(before: number) { return }
        let part: UInt64 = bug == .channelCreditAtHalf ? 2 : 4
        if taken + most >= granted + max(1, most / part), !wasStopped, !isFinished, !isOver {
            granted = taken + most
            channels.link.send(.credit(granted, channel: number))
        }
        if isFinished, !isOver { complete() }
    }

    private func store(_ piece: [UInt8]) throws(ProtocolError) {
        if let size = opening.size, base + received > size, bug != .ignoresSize { return stop(.digest) }
        let count = unsafe piece.withUnsafeBytes {
            unsafe MultipeerPlatform.write(file, $0.baseAddress, $0.count)
        }
        if count != piece.count, bug != .fullDiskIsSilent { return stop(.noSpace) }
        var fields: [String: JSONValue] = ["resource": .number(Double(shimNumber))]
        if let size = opening.size, size > 0 {
            fields["fraction"] = .number(min(1, Double(base + received) / Double(size)))
        }
        session.application.tell("resource-progress", fields)
    }

    func takeFin(_ said: [UInt8]?) throws(ProtocolError) {
        try demand(!isFinished, "a second FIN")
        try demand(offered == nil || wasStopped || bug == .dataBeforeBegin, "FIN before BEGIN")
        isFinished = true
        if wasStopped {
            isOver = true
            return
        }
        guard isResource else {
            if !isHeld { complete() }
            return
        }
        let sum = digest.take()?.finish() ?? []
        let isWhole = opening.size.map { $0 == base + received } ?? true
        var code = CloseCode.ok
        if !isWhole, bug != .ignoresSize { code = .digest }
        if let said, said != sum || opening.hasNoDigest, bug != .ignoresDigest { code = .digest }
        _ = close(file)
        file = -1
        isOver = true
        if bug != .resourcesNotAcknowledged { channels.link.send(.channelCode(.done, number, code)) }
        if code == .ok, partName != nil {
            let final = session.settings.folder + "/" + session.peer.randomBytes(12).hex
            _ = unsafe rename(path, final)
            path = final
        }
        if code == .ok { finishResource(sum) } else { failResource(code) }
    }

    // MARK: The end

    private func complete() {
        isOver = true
        channels.forget(self)
        if bug == .finIsSilent { return }
        if bug == .streamLosesTail, !bytes.isEmpty { bytes.removeLast() }
        tellEnd(nil)
    }

    private func tellEnd(_ error: CloseCode?) {
        var fields: [String: JSONValue] = [
            "stream": .number(Double(shimNumber)), "size": .number(Double(bytes.count)),
            "sha256": .string(SHA256.hash(bytes).hex),
        ]
        if let error { fields["error"] = .string(error.description) }
        session.application.tell("stream-end", fields)
    }

    private func finishResource(_ sum: [UInt8]) {
        let fields: [String: JSONValue] = [
            "resource": .number(Double(shimNumber)), "path": .string(path),
            "size": .number(Double(base + received)),
            "sha256": .string(sum.hex),
        ]
        session.application.tell("resource-end", fields)
    }

    private func failResource(_ code: CloseCode, isKept: Bool = false) {
        if file >= 0 { _ = close(file) }
        file = -1
        if bug != .keepsCancelledFiles, !isKept { _ = unsafe path.withCString { unsafe unlink($0) } }
        session.application.tell(
            "resource-end", ["resource": .number(Double(shimNumber)), "error": .string(code.description)])
    }

    /// Handles RESET, or the end of the link (nil).
    func fail(_ code: CloseCode?) {
        guard !isOver, !wasStopped else { return }
        isOver = true
        if isResource {
            return failResource(
                code ?? .internal, isKept: code == nil && partName != nil && bug != .forgetsParts)
        }
        if bug == .resetIsAnEnd, code != nil { return tellEnd(nil) }
        tellEnd(code ?? .internal)
    }

    /// Sends STOP: this end wants no more. Spec 9.5.
    func stop(_ code: CloseCode) {
        guard !isOver, !wasStopped else { return }
        wasStopped = true
        if bug != .cancelsSilently { channels.link.send(.channelCode(.stop, number, code)) }
        if isResource { failResource(code) } else { tellEnd(code) }
        bytes = []
        taken = .max
    }
}
