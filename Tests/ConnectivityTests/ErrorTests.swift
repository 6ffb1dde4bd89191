@preconcurrency import MultipeerConnectivity
import MultipeerTransport
import TestSupport
import Testing

@Suite("Facade: errors", .computing)
struct ErrorTests {
    @Test("an error is caught by its code, which it has as a property")
    func catching() {
        do {
            throw MCError(.notConnected)
        } catch MCError.notConnected {
        } catch {
            Issue.record("\(error)")
        }
        let error: any Error = MCError(.timedOut)
        switch (error as? MCError)?.code {
        case .timedOut: break
        default: Issue.record("\(error)")
        }
    }

    @Test("raw values and the domain are Apple's")
    func values() {
        let codes: [MCError.Code] = [
            .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled, .unavailable,
        ]
        #expect(codes.map(\.rawValue) == Array(0...6))
        #expect(MCError.errorDomain == MCErrorDomain && MCErrorDomain == "MCErrorDomain")
        #expect(MCError.unavailable == .unavailable && MCError.unknown == .unknown)
        #expect(MCError.Code(rawValue: 7) == nil)
    }

    @Test("Foundation sees the domain, code and text")
    func bridging() {
        let error = MCError(.cancelled, userInfo: [NSLocalizedDescriptionKey: "never mind"])
        let bridged = error as NSError
        #expect(bridged.domain == MCErrorDomain && bridged.code == 5)
        #expect(error.errorCode == 5 && error.localizedDescription == "never mind")
        #expect((error as any Error).localizedDescription == "never mind")
        #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "never mind")
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == "never mind")
    }

    @Test("errors are equal by value, and can be put into sets")
    func equality() {
        #expect(MCError(.cancelled) == MCError(.cancelled))
        #expect(MCError(.cancelled) != MCError(.timedOut))
        #expect(Set([MCError(.cancelled), MCError(.cancelled), MCError(.timedOut)]).count == 2)
    }

    @Test(
        "each native error has one of Apple's codes",
        arguments: [
            (.notConnected, .notConnected), (.ended, .notConnected), (.tooLarge, .invalidParameter),
            (.invalidArgument, .invalidParameter), (.invalidConnectionData, .invalidParameter),
            (.timedOut, .timedOut), (.cancelled, .cancelled), (.declined, .cancelled), (.busy, .unavailable),
            (.noSpace, .unavailable), (.discovery, .unavailable), (.system, .unavailable),
            (.full, .unavailable), (.damaged, .unknown), (.file, .unknown), (.incompatible, .unknown),
        ] as [(MultipeerError.Code, MCError.Code)])
    func translation(_ native: MultipeerError.Code, _ code: MCError.Code) {
        let error = MCError(MultipeerError(native, "what happened"))
        #expect(error.code == code && error.localizedDescription == "what happened")
        #expect((error.userInfo[NSUnderlyingErrorKey] as? MultipeerError)?.code == native)
    }
}
