import Multipeer
import TestSupport
import Testing

@testable import sky

@Suite("Sky: invitations", .computing)
struct GuestsTests {
    private let bob: PeerID

    init() throws { bob = try PeerID(displayName: "bob") }

    @Test("a peer is never invited twice at once, and is invited again until it succeeds")
    func again() {
        var guests = Guests()
        for attempt in 1...20 {
            let answers = [guests.mayAsk(bob), guests.mayAsk(bob)]
            #expect(answers == [true, false])
            let words = guests.note(bob, MultipeerError(.unreachable, "no peer at this address"))
            #expect((words == nil) == (attempt != 3), "it is said once")
        }
        #expect(guests.pause(for: bob) == .seconds(10))
    }

    @Test("a lost peer is invited again without a message, and one that declines is not")
    func lost() {
        var guests = Guests()
        let stopped = MultipeerError(.timedOut, "it is stopped")
        for error in [nil, stopped, stopped, stopped, stopped, MultipeerError(.declined, "it said no")] {
            let mayAsk = guests.mayAsk(bob)
            #expect(mayAsk)
            let words = guests.note(bob, error)
            #expect(words == nil)
        }
        let mayAsk = guests.mayAsk(bob)
        #expect(!mayAsk)
    }
}
