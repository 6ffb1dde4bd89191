import Foundation
import Multipeer

/// Finds one peer that takes files, and asks it whether it wants some.
final class Seeker: Sendable {
    static let option = Usage.Option(
        "--to", "NAME",
        "whom to send to: a display name, with the first digits of the id behind # when several have it, as "
            + "ann#1f2e, or #1f2e alone; when data is swapped by hand, refuse every other name")

    private let text: String
    private let addressee: Addressee
    private let options: DiscoveryOptions
    private let patience: Duration
    private let timeout: Duration
    private let files: Int
    private let isQuiet: Bool
    private let browser: Browser
    private let search: Locked<Search>
    private static let standardPatience = 30

    /// `--timeout` says how long is sought, 30 seconds unless set, and then how long the other side may think.
    init(_ arguments: Arguments, as peer: PeerID, files: Int) throws(Complaint) {
        guard let text = arguments.value(Seeker.option.name) else {
            throw arguments.complaint("option '--to' is missing, or --manual, which swaps data by hand")
        }
        guard let addressee = Addressee(text) else {
            throw arguments.complaint(
                "option '--to' takes NAME, NAME#DIGITS or #DIGITS of an id, not '\(text)'")
        }
        self.text = text.printable
        self.addressee = addressee
        self.files = files
        options = try DiscoveryOptions(arguments)
        let given = try arguments.number("--timeout", in: 1...600)
        patience = .seconds(given ?? Seeker.standardPatience)
        timeout = .seconds(given ?? SessionOptions.standardPatience)
        isQuiet = arguments.has("--quiet")
        search = Locked(Search(for: addressee))
        browser = Browser(
            peer: peer, service: options.service, configuration: options.configuration)
    }

    /// Answers the peer once it is linked.
    func link(_ session: Session) async throws(Complaint) -> PeerID {
        try await Complaint.translating { () async throws(MultipeerError) in try await browser.start() }
        if !isQuiet { Terminal.say("looking for \(text) \(options.place)") }
        let peer = try await find()
        if !isQuiet { Terminal.say("found \(peer.introduction), waiting for a yes") }
        let context = Purpose.send(files: files).context
        try await Complaint.translating { () async throws(MultipeerError) in
            try await browser.invite(peer, to: session, context: context, timeout: timeout)
        }
        await browser.stop()
        return peer
    }

    func stop() async { await browser.stop() }

    private func find() async throws(Complaint) -> PeerID {
        let start = ContinuousClock.now
        let outcome = Promise<Search.Verdict>()
        let watching = Task {
            for await event in browser.events {
                let deadline = search.withLock { search in
                    search.note(event, at: start.duration(to: .now))
                    return search.deadline
                }
                decide(since: start, outcome)
                guard let deadline else { continue }
                Task {
                    try? await Task.sleep(until: start + deadline)
                    decide(since: start, outcome)
                }
            }
        }
        let clock = Task { [patience] in
            try? await Task.sleep(for: patience)
            outcome.send(.open)
        }
        let verdict = await outcome.value()
        watching.cancel()
        clock.cancel()
        switch verdict {
        case .found(let peer): return peer
        case .several(let peers):
            let choices = peers.map { "--to '\($0.displayName.printable)#\($0.shortID)'" }
            throw Complaint(
                "\(peers.count) are called \(text)",
                hint: "choose one with " + choices.joined(separator: " or "),
                exit: .linkFailed)
        case .open:
            throw Complaint(
                "nobody called \(text) receives \(options.place): \(search.withLock(\.summary))",
                hint: "'multipeer browse' shows who is there, 'multipeer doctor' what is in the way",
                exit: .linkFailed)
        }
    }

    private func decide(since start: ContinuousClock.Instant, _ outcome: Promise<Search.Verdict>) {
        let verdict = search.withLock { $0.verdict(at: start.duration(to: .now)) }
        if verdict != .open { outcome.send(verdict) }
    }
}
