import Foundation
@preconcurrency import MultipeerConnectivity
import TestSupport
import Testing

@Suite("Facade: the order of calls about resources", .inTurns)
struct ResourceOrderTests {
    private let folder = Folder()

    @Test("a file that has arrived is reported before its sender is reported as lost")
    func arrivedBeforeLost() async throws {
        let file = try folder.file([UInt8](repeating: 7, count: 300_000))
        for _ in 1...20 {
            let exchange = try await ConnectedPair()
            let ann = UncheckedSendable(exchange.ann.session)
            exchange.ann.session.sendResource(at: file, withName: "file", toPeer: exchange.bob.peer) { _ in
                ann.value.disconnect()
            }
            #expect(try await errorBeforeLoss(exchange) == nil)
            exchange.end()
        }
    }

    @Test("a file that ends with its sender is reported before the sender is reported as lost")
    func failedBeforeLost() async throws {
        let file = try folder.endless()
        for _ in 1...10 {
            let exchange = try await ConnectedPair()
            exchange.ann.session.sendResource(at: file, withName: "file", toPeer: exchange.bob.peer)
            _ = try await exchange.bob.recorder.start("file")
            exchange.ann.session.disconnect()
            #expect(try await errorBeforeLoss(exchange)?.code == .notConnected)
            exchange.end()
        }
    }

    /// Waits until bob has lost ann, and returns the error of the file, which was reported before that.
    private func errorBeforeLoss(_ exchange: ConnectedPair) async throws -> MCError? {
        let bob = exchange.bob.recorder
        try await bob.hears(.notConnected, of: exchange.ann.peer)
        let events = bob.log.all
        let end = try #require(events.firstIndex { $0.finish("file") != nil })
        let loss = try #require(events.lastIndex { $0.state(of: exchange.ann.peer) == .notConnected })
        #expect(end < loss)
        return try await bob.finish("file").error
    }
}
