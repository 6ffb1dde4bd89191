import Multipeer
import MultipeerCore
import MultipeerFraming
import MultipeerHandshake
import MultipeerSecurity
import MultipeerTransport
import TestSupport
import Testing

@Suite("12 Invitations over sockets", .inTurns)
struct InvitationSocketTests {
    let ann = try? PeerID(displayName: "ann")

    @Test("after accepting both have each other's data [invite.consent] [invite.data]")
    func accept() async throws {
        let ann = try #require(ann)
        try await withHost { host in
            let beginning = ContinuousClock.now
            async let call = ann.invite(host, context: [1, 2, 3])
            let question = try await host.question()
            // What is left of the 30 s once TLS is established, in whole seconds.
            #expect(question.timeout <= .seconds(30))
            #expect(question.timeout >= .seconds(30) - (.now - beginning))
            #expect(question.inviter == ann)
            #expect(question.inviter.displayName == "ann")
            #expect(question.context == [1, 2, 3])
            let theirs = try await host.listener.accept(question.id, with: try host.data(for: ann))
            let ours = try ann.made(for: host.peer)
            #expect(theirs == ours)
            let met = await call
            let bobs = try host.data(for: ann)
            #expect(met == .success(bobs))
            #expect(await question.ending.value() == nil)
        }
    }

    @Test(
        "after declining the inviter receives the reason at once",
        arguments: [
            (.declined, .declined), (.full, .full), (.policy, .incompatible),
            (.internal, .refused(.internal)),
        ] as [(CloseCode, InvitationFault)])
    func refuse(_ code: CloseCode, _ fault: InvitationFault) async throws {
        let ann = try #require(ann)
        try await withHost { host in
            async let call = ann.invite(host)
            let question = try await host.question()
            #expect(question.context == nil)
            try await host.listener.refuse(question.id, code)
            #expect(await call == .failure(fault))
        }
    }

    @Test("a second answer is an error, from whichever actor it comes [invite.once]")
    func twice() async throws {
        let ann = try #require(ann)
        try await withHost { host in
            async let call = ann.invite(host)
            let question = try await host.question()
            let data = try host.data(for: ann)
            let answers = await withTaskGroup(of: InvitationFault?.self) { group in
                for number in 0..<8 {
                    group.addTask {
                        do throws(InvitationFault) {
                            if number % 2 == 0 {
                                _ = try await host.listener.accept(question.id, with: data)
                            } else {
                                try await host.listener.refuse(question.id)
                            }
                            return nil
                        } catch {
                            return error
                        }
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(answers.count { $0 == nil } == 1)
            #expect(answers.count { $0 == .alreadyAnswered } == 7)
            _ = await call
        }
    }

    @Test("without an answer the inviter times out, and a later answer is too late [invite.timeout]")
    func timeout() async throws {
        let ann = try #require(ann)
        try await eventually { timeLimit in
            var isAsked = false
            try await withHost { host in
                let asking = Task { () -> ReceivedInvitation? in
                    var questions = host.listener.questions.makeAsyncIterator()
                    return await questions.next()
                }
                let start = ContinuousClock.now
                #expect(await ann.invite(host, within: timeLimit) == .failure(.unanswered))
                #expect(ContinuousClock.now - start < timeLimit + .seconds(19))
                asking.cancel()
                guard let question = await asking.value else { return }
                isAsked = true
                let ending = try await within { await question.ending.value() }
                #expect(ending == .timedOut)
                await #expect(throws: InvitationFault.timedOut) {
                    _ = try await host.listener.accept(question.id, with: try host.data(for: ann))
                }
            }
            return isAsked
        }
    }

    @Test("cancelling withdraws the question [invite.cancel]")
    func cancel() async throws {
        let ann = try #require(ann)
        try await withHost { host in
            let call = Task { await ann.invite(host) }
            let question = try await host.question()
            call.cancel()
            #expect(await call.value == .failure(.cancelled))
            let ending = try await within { await question.ending.value() }
            #expect(ending == .withdrawn)
            await #expect(throws: InvitationFault.withdrawn) {
                try await host.listener.refuse(question.id)
            }
        }
    }

    @Test("stopping ends all waiting invitations, and no further question is asked [invite.cancel]")
    func stop() async throws {
        let ann = try #require(ann)
        let host = try await Host()
        async let call = ann.invite(host)
        let question = try await host.question()
        await host.listener.stop()
        #expect(await call == .failure(.cancelled))
        #expect(await question.ending.value() == .cancelled)
        await #expect(throws: InvitationFault.cancelled) {
            _ = try await host.listener.accept(question.id, with: try host.data(for: ann))
        }
        var questions = host.listener.questions.makeAsyncIterator()
        #expect(await questions.next() == nil)
        guard case .failure(.unreachable) = await ann.invite(host) else {
            Issue.record("somebody was there")
            return
        }
    }

    @Test(
        "stopping lets accepted invitations complete, even those whose answer is still on its way [invite.cancel]"
    )
    func stopAfterYes() async throws {
        let (ann, host) = (try #require(ann), try await Host())
        let pipe = try await host.pipe(InvitationTLS())
        try await pipe.say(.invite(ann.invitation(to: host.peer)))
        let first = try await host.question()
        let bobsData = try host.data(for: ann)
        let agreed = Task { try await host.listener.accept(first.id, with: bobsData) }
        guard case .answer(let answer) = try await pipe.hear() else {
            Issue.record("no answer")
            return
        }
        let carl = try PeerID(displayName: "carl")
        async let call = carl.invite(host)
        let second = try await host.question()
        host.listener.claim(second.id)
        await host.listener.stop()
        let annsData = try ann.made(for: host.peer)
        try await pipe.say(.complete(Complete(id: answer.id, connectionData: annsData.bytes)))
        #expect(try await agreed.value == annsData)
        let data = try host.data(for: carl)
        #expect(try await host.listener.accept(second.id, with: data).peer == carl)
        #expect(await call == .success(data))
    }

    @Test("cancelling an accept ends the invitation at both ends [invite.cancel]")
    func cancelledAccept() async throws {
        let ann = try #require(ann)
        try await withHost { host in
            let tls = try InvitationTLS()
            let pipe = try await host.pipe(tls)
            try await pipe.say(.invite(ann.invitation(to: host.peer)))
            let question = try await host.question()
            let data = try host.data(for: ann)
            let accept = Task { try await host.listener.accept(question.id, with: data) }
            guard case .answer(let answer) = try await pipe.hear() else {
                Issue.record("no answer")
                return
            }
            #expect(answer.code == .ok)
            accept.cancel()
            await #expect(throws: InvitationFault.cancelled) { try await accept.value }
            let said = try await pipe.hear()
            #expect(said == .close(.cancelled, reason: ""))
        }
    }

    @Test("a peer whose data cannot make a link gets an error instead of data [invite.data]")
    func incompatible() async throws {
        let ann = try #require(ann)
        try await withHost { host in
            async let call = ann.invite(host.peer, at: [host.address], preference: .none)
            let question = try await host.question()
            await #expect(throws: InvitationFault.incompatible) {
                _ = try await host.listener.accept(question.id, with: try host.data(for: ann))
            }
            #expect(await call == .failure(.incompatible))
        }
    }

    @Test(
        "an unreachable address does not keep an invitation from the others; if all are unreachable it fails")
    func unreachable() async throws {
        let ann = try #require(ann)
        let gone = try await Host()
        await gone.listener.stop()
        try await withHost { host in
            host.welcomeEverybody()
            let addresses = [gone.address, gone.address, host.address]
            let met = await ann.invite(host.peer, at: addresses)
            let bobs = try host.data(for: ann)
            #expect(met == .success(bobs))
            let start = ContinuousClock.now
            guard case .failure(.unreachable(let text)) = await ann.invite(host.peer, at: [gone.address])
            else {
                Issue.record("somebody was there")
                return
            }
            #expect(text.contains("refused"))
            #expect(ContinuousClock.now - start < .seconds(20))
        }
    }

    @Test("another peer at the address is not mistaken for the invited one [invite.recipient]")
    func elsewhere() async throws {
        let (ann, other) = (try #require(ann), try PeerID(displayName: "carol"))
        try await withHost { host in
            guard case .failure(.unreachable) = await ann.invite(other, at: [host.address]) else {
                Issue.record("bob was taken for carol")
                return
            }
            #expect(host.listener.questions.count == 0)
        }
    }

    @Test(
        "forty simultaneous inviters are answered, and never more than four questions of one address are open [invite.pending] [invite.busy]"
    )
    func crowd() async throws {
        try await withHost { host in
            let most = Locked(0)
            let welcome = Task {
                for await question in host.listener.questions {
                    most.withLock { $0 = max($0, host.listener.questions.count + 1) }
                    // Not DECLINED, which would make the address quiet after three.
                    try? await host.listener.refuse(question.id, .full)
                }
            }
            let refused = try await within { [host] in
                try await withThrowingTaskGroup(of: Bool.self) { group in
                    for number in 0..<40 {
                        let peer = try PeerID(displayName: "peer \(number)")
                        group.addTask { await peer.invite(host) == .failure(.full) }
                    }
                    return try await group.reduce(0) { $0 + ($1 ? 1 : 0) }
                }
            }
            #expect(refused == 40)
            #expect(most.withLock { $0 } <= 4)
            await host.listener.stop()
            await welcome.value
        }
    }

    @Test(
        "a second invitation of a peer takes over the connection of the first, without a second question [invite.pending]"
    )
    func again() async throws {
        let ann = try #require(ann)
        try await withHost { host in
            async let first = ann.invite(host, context: [1])
            let question = try await host.question()
            async let second = ann.invite(host, context: [2])
            #expect(await first == .failure(.replaced))
            #expect(host.listener.questions.count == 0)
            let theirs = try await host.listener.accept(question.id, with: try host.data(for: ann))
            #expect(theirs.peer == ann)
            let met = await second
            let bobs = try host.data(for: ann)
            #expect(met == .success(bobs))
        }
    }

    @Test(
        "when an application reads no questions their number is bounded, and expired ones are removed [invite.pending]"
    )
    func untaken() async throws {
        try await withHost { host in
            let tasks = try (0..<4).map { number in
                let peer = try PeerID(displayName: "peer \(number)")
                return Task { await peer.invite(host) }
            }
            try await within {
                while host.listener.questions.count < 4 { try await Task.sleep(for: .milliseconds(5)) }
            }
            for task in tasks { task.cancel() }
            try await within {
                while host.listener.questions.count > 0 { try await Task.sleep(for: .milliseconds(5)) }
            }
        }
    }
}

extension PeerID {
    /// The frame that begins an invitation of this peer's.
    func invitation(to other: PeerID, timeout: UInt32 = 30) -> Invite {
        Invite(
            id: [UInt8](repeating: 3, count: Invite.idByteCount), inviter: uid, inviterName: displayName,
            recipient: other.uid, timeout: timeout)
    }
}

extension Host {
    /// A connection on which the test speaks for an inviter.
    func pipe(_ tls: InvitationTLS) async throws -> SecuredPipe {
        let pipe = try SecuredPipe(to: address)
        try await pipe.secure(try tls.channel(.client))
        return pipe
    }
}
