import Foundation
import MultipeerSecurity

/// An outgoing stream or resource. Spec 9.
final class PeerOutgoingChannel {
    unowned let session: PeerSession
    let shimNumber: Int
    let to: [UInt8]
    private let name: [UInt8]
    let isResource: Bool
    private let isResumable: Bool
    /// The offset of BEGIN, once that may be sent; and whether it was.
    private var beginning: UInt64?
    private var hasBegun: Bool
    private var wasAsked = false
    private let file: FileHandle?
    private var size: Int
    private(set) var number: UInt32?
    var limit: UInt64 = 0
    private var sent: UInt64 = 0
    private var queue: [UInt8] = []
    private var isFinishing = false
    private(set) var hasFinished = false
    private(set) var isClosed = false
    private var hasFailed = false
    private var digest: SHA256.Hasher? = SHA256.Hasher()

    /// Creates a channel; `file` is what a resource is read from, and nil for a stream.
    init(
        _ session: PeerSession, _ shimNumber: Int, to: [UInt8], name: [UInt8], file: FileHandle?,
        size: Int = 0, isResumable: Bool = false
    ) {
        self.session = session
        self.shimNumber = shimNumber
        self.to = to
        self.name = name
        self.file = file
        self.size = size
        isResource = file != nil
        self.isResumable = isResumable
        hasBegun = !isResumable || session.bug == .sendsBeforeResume
    }

    private var link: PeerLink? { session.links[to] }

    func opening(_ number: UInt32) -> Frame {
        let opening = PeerChannelOpening(
            kind: isResource ? 2 : 1, name: name, size: isResource ? UInt64(size) : nil,
            isResumable: isResumable)
        return Frame(.open, channel: number, opening.bytes)
    }

    func opened(_ number: UInt32, limit: UInt64) {
        self.number = number
        self.limit = limit
    }

    func write(_ bytes: [UInt8]) {
        queue += bytes
        link?.outbox.pour()
    }

    func finish() {
        isFinishing = true
        link?.outbox.pour()
    }

    /// Sends RESET when the application gives up.
    func abort(_ code: CloseCode = .cancelled) {
        guard !isClosed, !hasFailed else { return }
        if let number, session.bug != .cancelsSilently { link?.send(.channelCode(.reset, number, code)) }
        link?.channels.close(self)
        failed(code)
    }

    /// Returns DATA or FIN, if there is anything to send and credit for it.
    func nextFrame() -> Frame? {
        guard let number, !hasFinished else { return nil }
        if !hasBegun {
            guard let beginning else { return nil }
            hasBegun = true
            return Frame.begin(number, beginning)
        }
        let isUnbounded = session.bug == .sendsBeyondChannelCredit
        let room = isUnbounded ? 65_536 : Int(clamping: limit - min(limit, sent))
        let piece = isResource ? read(min(16_376, room)) : Array(queue.prefix(min(16_376, room)))
        if hasFailed { return nil }
        if !piece.isEmpty {
            if !isResource { queue.removeFirst(piece.count) }
            sent += UInt64(piece.count)
            digest?.update(piece)
            return Frame(.data, channel: number, piece)
        }
        guard isResource ? position == size : isFinishing && queue.isEmpty else { return nil }
        hasFinished = true
        isClosed = !isResource
        let sum = digest.take()?.finish() ?? []
        if isResource, session.bug == .doneNotAwaited { tellSent(nil) }
        return Frame(.fin, channel: number, isResource ? TLVEntry(1, sum).bytes : [])
    }

    private func read(_ count: Int) -> [UInt8] {
        guard count > 0, position < size else { return [] }
        let bytes = (try? file?.read(upToCount: min(count, size - position))).map { [UInt8]($0) } ?? []
        // The file has become shorter.
        if bytes.isEmpty, session.bug == .shortFileIsSuccess {
            size = position
            return []
        }
        if bytes.isEmpty { abort(.digest) }
        return bytes
    }

    /// The number of bytes of the file that the receiver has.
    private var position: Int { Int(sent) + Int(beginning ?? 0) }

    /// Compares what the receiver has with the first bytes of the file. Spec 9.6.
    func takeResume(_ offset: UInt64, _ said: [UInt8]) throws(ProtocolError) {
        let isUnchecked = session.bug == .resumeUnchecked
        try demand(isResumable && !wasAsked || isUnchecked, "RESUME that no channel waits for")
        try demand(offset <= UInt64(size) || isUnchecked, "RESUME beyond SIZE")
        if wasAsked || !isResumable { return }
        wasAsked = true
        let count = Int(min(offset, UInt64(size)))
        let first = (try? file?.read(upToCount: count)).map { [UInt8]($0) } ?? []
        let isSame = SHA256.hash(first) == said || session.bug == .beginsUnchecked
        beginning = isSame ? UInt64(count) : 0
        if isSame, session.bug != .digestOfRest { digest?.update(first) }
        if !isSame { try? file?.seek(toOffset: 0) }
    }

    // MARK: The end

    func done(_ code: CloseCode) {
        isClosed = true
        let isGood = code == .ok || session.bug == .shortFileIsSuccess
        if session.bug != .doneNotAwaited { tellSent(isGood ? nil : code) }
    }

    func failed(_ code: CloseCode) {
        guard !hasFailed, !isClosed || isResource else { return }
        hasFailed = true
        isClosed = true
        if isResource { return tellSent(code) }
        session.application.tell(
            "stream-end", ["stream": .number(Double(shimNumber)), "error": .string(code.description)])
    }

    /// Reports the end of the channel when its link has ended.
    func lost() {
        if isResource, session.bug == .lostLinkIsSuccess { return tellSent(nil) }
        failed(.internal)
    }

    private func tellSent(_ code: CloseCode?) {
        try? file?.close()
        var fields: [String: JSONValue] = ["to": .string(to.hex), "resource": .number(Double(shimNumber))]
        if let code { fields["error"] = .string(code.description) }
        session.application.tell("sent", fields)
    }
}
