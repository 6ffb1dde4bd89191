import Multipeer
import MultipeerCore
import MultipeerFigures

/// Two peers invite each other at the same time, many times over: one link each time, or none when both decline.
///
/// Several pairs at once, each with one advertiser and one browser for all its rounds, on a network of multicast DNS
/// that is the loopback interface alone.
struct MutualInvitations {
    /// What the first of the two does; the other accepts.
    enum Way: String, CaseIterable { case bothAccept, oneDeclines, oneIsSlow, oneCancels, bothDecline }

    private static let pairs = 8
    private let count: Int

    init(_ count: Int) { self.count = count }

    func run() async throws {
        // Creates the threads and descriptors that stay for the whole time.
        _ = try await rounds(Self.pairs)
        let before = try Figures()
        let links = try await rounds(count)
        let after = try await figures(after: before)
        let words = Way.allCases.map { "\($0.rawValue) \(links[$0, default: 0])" }
        print("\(count) rounds, links: \(words.joined(separator: ", ")); \(before) before, \(after) after")
    }

    /// Returns the figures once goodbyes are over, which takes a while.
    private func figures(after before: Figures) async throws -> Figures {
        let end = ContinuousClock.now + .seconds(10)
        while true {
            let after = try Figures()
            if after.descriptors <= before.descriptors { return after }
            try Endurance.expect(ContinuousClock.now < end, "\(before) before, \(after) after")
            try await Task.sleep(for: .milliseconds(50))
        }
    }

    /// Runs rounds. Returns the number of links for each way.
    private func rounds(_ count: Int) async throws -> [Way: Int] {
        var links: [Way: Int] = [:]
        try await withThrowingTaskGroup(of: [(Way, Int)].self) { group in
            for number in 0..<min(Self.pairs, count) {
                group.addTask {
                    let pair = try await InvitingPair(number)
                    var outcomes: [(Way, Int)] = []
                    for round in stride(from: number, to: count, by: Self.pairs) {
                        let way = Way.allCases[round % Way.allCases.count]
                        do {
                            outcomes.append((way, try await pair.round(way)))
                        } catch {
                            throw Endurance.Failure(description: "round \(round), \(way): \(error)")
                        }
                    }
                    await pair.stop()
                    return outcomes
                }
            }
            for try await outcomes in group {
                for (way, linked) in outcomes {
                    links[way, default: 0] += linked
                }
            }
        }
        return links
    }
}

/// Two peers that have found each other.
private struct InvitingPair: Sendable {
    let one: Inviter
    let other: Inviter

    init(_ number: Int) async throws {
        let letters = (0..<8).map { _ in "abcdefghijklmnopqrstuvwxyz".randomElement() ?? "a" }
        let type = try ServiceType("m\(number)-\(String(letters))")
        one = try Inviter("one", type)
        other = try Inviter("other", type)
        for inviter in [one, other] { try await inviter.start() }
        try await one.finds(other)
        try await other.finds(one)
    }

    func stop() async {
        await one.stop()
        await other.stop()
    }

    /// Runs a round with new sessions. Returns the number of links.
    func round(_ way: MutualInvitations.Way) async throws -> Int {
        let (ones, others) = (
            try Session(peer: one.peer, configuration: Endurance.loopback),
            try Session(peer: other.peer, configuration: Endurance.loopback)
        )
        let onesAnswers = Task { await one.answer(way, in: ones) }
        let othersAnswers = Task { await other.answer(way == .bothDecline ? way : .bothAccept, in: others) }
        let skew = Duration.milliseconds(Int.random(in: 0...50))
        let first = Task { await one.invite(other, to: ones) }
        let second = Task {
            try? await Task.sleep(for: skew)
            return await other.invite(one, to: others)
        }
        if way == .oneCancels {
            try await Task.sleep(for: .milliseconds(Int.random(in: 0...60)))
            first.cancel()
        }
        let faults = (await first.value, await second.value)
        try check(way, faults.0, faults.1)
        let isLinked = way != .bothDecline
        if isLinked { try await expectOneLink(ones, others, isPlain: way != .oneCancels) }
        onesAnswers.cancel()
        othersAnswers.cancel()
        let answers = (await onesAnswers.value, await othersAnswers.value)
        try Endurance.expect(
            answers.0.allSatisfy { $0 == nil }, "the first answered, and received \(answers.0)")
        if way != .oneCancels {
            try Endurance.expect(
                answers.1.allSatisfy { $0 == nil }, "the second answered, and received \(answers.1)")
        }
        if !isLinked {
            let peers = (await ones.connectedPeers, await others.connectedPeers)
            try Endurance.expect(peers.0.isEmpty && peers.1.isEmpty, "both declined, but are linked")
        }
        await ones.disconnect()
        await others.disconnect()
        return isLinked ? 1 : 0
    }

    private func check(
        _ way: MutualInvitations.Way, _ first: MultipeerError?, _ second: MultipeerError?
    ) throws {
        let (firsts, seconds): (Set<MultipeerError.Code?>, Set<MultipeerError.Code?>) =
            switch way {
            case .bothAccept, .oneIsSlow: ([nil], [nil])
            case .oneDeclines: ([nil], [.declined])
            case .oneCancels: ([nil, .cancelled], [nil])
            case .bothDecline: ([.declined], [.declined])
            }
        func words(_ error: MultipeerError?) -> String {
            error.map { "\($0.code.rawValue): \($0)" } ?? "a link"
        }
        try Endurance.expect(firsts.contains(first?.code), "the first inviter received \(words(first))")
        try Endurance.expect(seconds.contains(second?.code), "the second inviter received \(words(second))")
    }

    /// Checks that both ends report the same connection, and were linked once. `isPlain`: nothing may have ended before.
    private func expectOneLink(_ ones: Session, _ others: Session, isPlain: Bool) async throws {
        // The invitee may be linked a moment after the inviter.
        let end = ContinuousClock.now + .seconds(20)
        while true {
            let linked = (await ones.connectedPeers, await others.connectedPeers)
            if linked == ([other.peer], [one.peer]) { break }
            try Endurance.expect(ContinuousClock.now < end, "no link at one end or at both")
            try await Task.sleep(for: .milliseconds(5))
        }
        let states = try await Endurance.talk(ones, others)
        for (name, states) in [("first", states.0), ("second", states.1)] {
            try Endurance.expect(states.last == .connected, "the \(name) saw \(states)")
            if isPlain {
                try Endurance.expect(states == [.connecting, .connected], "the \(name) saw \(states)")
            }
        }
        guard let atOne = await ones.connectionInfo(for: other.peer),
            let atOther = await others.connectionInfo(for: one.peer)
        else { throw Endurance.Failure(description: "a link is gone") }
        try Endurance.expect(
            atOne.remoteAddress == atOther.localAddress && atOne.localAddress == atOther.remoteAddress,
            "the two ends belong to different connections: \(atOne), \(atOther)")
    }
}

/// One of two peers: it advertises, and browses for the other.
private struct Inviter: Sendable {
    let peer: PeerID
    let advertiser: Advertiser
    let browser: Browser

    init(_ name: String, _ type: ServiceType) throws {
        peer = try PeerID(displayName: name)
        advertiser = Advertiser(peer: peer, service: type, configuration: .loopback)
        browser = Browser(peer: peer, service: type, configuration: .loopback)
    }

    func start() async throws {
        try await advertiser.start()
        try await browser.start()
    }

    func stop() async {
        await advertiser.stop()
        await browser.stop()
    }

    func finds(_ other: Inviter) async throws {
        for await event in browser.events {
            if case .found(let found) = event, found.peer == other.peer { return }
        }
        throw Endurance.Failure(description: "\(other.peer) was not found")
    }

    /// Invites the other peer. Returns the error, if any.
    func invite(_ other: Inviter, to session: Session) async -> MultipeerError? {
        do throws(MultipeerError) {
            try await browser.invite(other.peer, to: session, timeout: .seconds(20))
            return nil
        } catch {
            return error
        }
    }

    /// Answers each invitation, until it is cancelled, and then returns the error of each of them. One that was withdrawn
    /// does not count.
    func answer(_ way: MutualInvitations.Way, in session: Session) async -> [MultipeerError?] {
        var faults: [MultipeerError?] = []
        for await invitation in advertiser.invitations {
            if way == .oneIsSlow { try? await Task.sleep(for: .milliseconds(200)) }
            do throws(MultipeerError) {
                if way == .oneDeclines || way == .bothDecline {
                    try await invitation.decline()
                } else {
                    try await invitation.accept(into: session)
                }
                faults.append(nil)
            } catch {
                if error.code != .cancelled { faults.append(error) }
            }
        }
        return faults
    }
}
