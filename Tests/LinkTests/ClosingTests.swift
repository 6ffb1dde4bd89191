import MultipeerCore
import MultipeerFraming
import MultipeerLink
import TestSupport
import Testing

@Suite("14 The end of a link", .computing)
struct ClosingTests {
    @Test("CLOSE precedes everything, and nothing follows it [close.linger] [close.goodbye]")
    func ahead() {
        let end = End()
        end.link.enqueue([[1], [2]])
        end.link.close(.goodbye, reason: "bye", at: end.now)
        end.link.enqueue([[3]])
        end.link.probe()
        #expect(end.link.end == .closed(.goodbye))
        #expect(end.frames() == [.close(.goodbye, reason: "bye")])
        #expect(end.link.queuedMessages == 3)
        #expect(!end.wantsToSend)
        end.receive(.ping(1), .message([9]))
        #expect(end.frames() == [])
        #expect(end.messages().isEmpty)
    }

    @Test("a graceful close waits for what is enqueued, and no longer [close.goodbye] [msg.order]")
    func drained() {
        let end = End(.init(remote: .small(credit: 130)))
        end.link.enqueue([[1], [2], [3]])
        end.link.closeWhenDrained(.goodbye, at: end.now)
        end.link.enqueue([[4]])
        #expect(end.frames() == [.message([1]), .message([2])])
        #expect(end.link.end == nil)
        end.receive(.message([7]), .credit(channel: 0, limit: 1_000))
        #expect(end.messages() == [[7]])
        #expect(end.frames() == [.message([3]), .close(.goodbye, reason: "")])
        #expect(end.link.end == .closed(.goodbye))
        #expect(end.link.queuedMessages == 1)
    }

    @Test("with nothing enqueued a graceful close is immediate [close.goodbye]")
    func drainedAlready() {
        let end = End()
        end.link.closeWhenDrained(.goodbye, at: end.now)
        #expect(end.frames() == [.close(.goodbye, reason: "")])
    }

    @Test("a graceful close waits for pending channel frames [close.goodbye] [resource.cancel]")
    func channels() {
        let end = End()
        let number = end.link.open(ChannelOpening(kind: .resource, name: "file"))
        _ = end.frames()
        end.link.reset(number, .cancelled)
        end.link.closeWhenDrained(.goodbye, at: end.now)
        #expect(end.frames() == [.reset(channel: number, .cancelled), .close(.goodbye, reason: "")])
        #expect(end.link.end == .closed(.goodbye))
    }

    @Test("CLOSE may take one second to be written [close.linger]")
    func linger() {
        let end = End()
        end.link.close(.goodbye, at: end.now)
        #expect(end.link.phase == .closing(until: Moment.start.later(1)))
        #expect(end.link.deadline == Moment.start.later(1))
        end.advance(0.999)
        #expect(end.link.phase != .ended)
        end.advance(0.001)
        #expect(end.link.phase == .ended)
        #expect(end.link.deadline == nil)
        #expect(end.frames() == [])
    }

    @Test("data before the peer's CLOSE is delivered, data after it is ignored [close.after]")
    func after() {
        let end = End()
        end.receive(.message([1]), .close(.goodbye, reason: ""), .message([2]), .stop(channel: 9, .ok))
        #expect(end.link.end == .closedByPeer(.goodbye, reason: ""))
        #expect(end.messages() == [[1]])
        #expect(end.link.phase == .ended)
        #expect(!end.wantsToSend)
    }

    @Test("the peer's reason is sanitized for display [close.reason]")
    func words() {
        let end = End()
        end.receive(.close(.busy, reason: "no\n\u{1B}[31mroom\u{202E}x"))
        #expect(end.link.end == .closedByPeer(.busy, reason: "no  [31mroom x"))
    }

    @Test("a CLOSE that is not UTF-8 violates the protocol [close.reason]")
    func notText() {
        let end = End()
        end.receive([0, 0, 3, 5, 0, 0, 0, 0, 0, 1, 0xFF])
        #expect(end.link.end == .violation(.framing(.invalidText)))
    }

    @Test("an end without CLOSE is a loss [tls.truncation]")
    func lost() {
        let end = End()
        end.receive([0, 0, 1])
        end.link.lost()
        #expect(end.link.end == .lost)
        #expect(end.link.end?.closeCode == nil)
    }

    @Test("the first reason is kept [state.reason]")
    func first() {
        let end = End()
        end.link.superseded(at: end.now)
        end.link.close(.goodbye, at: end.now)
        end.receive(.close(.full, reason: ""))
        end.link.lost()
        #expect(end.link.end == .superseded)
        #expect(end.frames() == [])
    }

    @Test("statistics count whole messages in both directions [msg.order]")
    func statistics() {
        let end = End()
        end.link.enqueue([[1, 2], []])
        _ = end.written()
        end.receive(.messagePart([UInt8](repeating: 1, count: 1_024)), .message([1]))
        let statistics = end.link.statistics
        #expect(statistics.messagesSent == 2)
        #expect(statistics.bytesSent == 2)
        #expect(statistics.messagesReceived == 1)
        #expect(statistics.bytesReceived == 1_025)
    }
}
