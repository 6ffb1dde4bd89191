import ClassicClient
import ClassicClientSwift6
import Foundation
import MultipeerConnectivity
import TestSupport
import Testing

/// What a list of signatures cannot show: raw values, constants, and how they behave in the code of programs.
@Suite("Apple's values", .computing)
struct AppleValueTests {
    @Test("the constants have Apple's values")
    func constants() {
        #expect(kMCSessionMinimumNumberOfPeers == 2)
        #expect(kMCSessionMaximumNumberOfPeers == 8)
        #expect(MCErrorDomain == "MCErrorDomain")
        #expect(MCError.errorDomain == MCErrorDomain)
    }

    @Test("the cases have Apple's raw values, and there are no others")
    func rawValues() {
        #expect([MCSessionSendDataMode.reliable, .unreliable].map(\.rawValue) == [0, 1])
        #expect([MCSessionState.notConnected, .connecting, .connected].map(\.rawValue) == [0, 1, 2])
        #expect([MCEncryptionPreference.optional, .required, .none].map(\.rawValue) == [0, 1, 2])
        let codes: [MCError.Code] = [
            .unknown, .notConnected, .invalidParameter, .unsupported, .timedOut, .cancelled, .unavailable,
        ]
        #expect(codes.map(\.rawValue) == Array(0...6))
        #expect((-1...7).compactMap(MCError.Code.init(rawValue:)) == codes)
        #expect((-1...7).compactMap(MCSessionSendDataMode.init(rawValue:)) == [.reliable, .unreliable])
        #expect(
            (-1...7).compactMap(MCSessionState.init(rawValue:)) == [.notConnected, .connecting, .connected])
        #expect((-1...7).compactMap(MCEncryptionPreference.init(rawValue:)) == [.optional, .required, .none])
    }

    @Test("the short names of the error are its codes")
    func shortNames() {
        let names: [MCError.Code] = [
            MCError.unknown, MCError.notConnected, MCError.invalidParameter, MCError.unsupported,
            MCError.timedOut,
            MCError.cancelled, MCError.unavailable,
        ]
        #expect(names.map(\.rawValue) == Array(0...6))
    }

    @Test("switch statements have a case for every value, in both language modes")
    func switches() {
        let states = [MCSessionState.notConnected, .connecting, .connected]
        let modes = [MCSessionSendDataMode.reliable, .unreliable]
        let preferences = [MCEncryptionPreference.optional, .required, .none]
        let codes = (0...6).compactMap(MCError.Code.init(rawValue:))
        let words5 =
            states.map { ClassicClient.word($0) } + modes.map { ClassicClient.word($0) }
            + preferences.map { ClassicClient.word($0) } + codes.map { ClassicClient.word($0) }
        let words6 =
            states.map { ClassicClientSwift6.word($0) } + modes.map { ClassicClientSwift6.word($0) }
            + preferences.map { ClassicClientSwift6.word($0) } + codes.map { ClassicClientSwift6.word($0) }
        #expect(words5 == words6)
        #expect(words5.count == 15 && !words5.dropLast(7).contains("unknown"))
    }

    @Test("an error is caught by its name, by its code, and as an error of Foundation")
    func errors() {
        for caught in [ClassicClient.caught, ClassicClientSwift6.caught] {
            #expect(caught {} == "nothing")
            #expect(caught { throw MCError(.notConnected) } == "not connected")
            #expect(caught { throw MCError(.invalidParameter) } == "invalid parameter")
            #expect(caught { throw MCError(.unavailable) } == "unavailable")
            #expect(caught { throw MCError(.timedOut) } == "code 4")
            #expect(caught { throw NSError(domain: "elsewhere", code: 5) } == "elsewhere 5")
        }
        let error = MCError(.cancelled, userInfo: [NSLocalizedDescriptionKey: "called off"])
        #expect(ClassicClient.bridged(error) == ("MCErrorDomain", 5))
        #expect(error.code == .cancelled && error.errorCode == 5)
        #expect(error.localizedDescription == "called off")
        #expect(error.userInfo[NSLocalizedDescriptionKey] as? String == "called off")
        #expect(error.errorUserInfo[NSLocalizedDescriptionKey] as? String == "called off")
    }

    @Test("errors and states are equal by value, and can be put into sets")
    func equality() {
        #expect(MCError(.timedOut) == MCError(.timedOut))
        #expect(MCError(.timedOut) != MCError(.cancelled))
        #expect(Set([MCError(.timedOut), MCError(.timedOut), MCError(.cancelled)]).count == 2)
        #expect(Set([MCSessionState.connected, .connected]).count == 1)
    }

    @Test("the methods have the types that programs write")
    func references() {
        #expect(ClassicClient.references().count == ClassicClientSwift6.references().count)
    }

    @Test("a program with this import alone has Foundation, and archives a peer")
    func foundation() throws {
        let peer = MCPeerID(displayName: "ann")
        let read5 = try ClassicClient.throughFoundation(peer)
        let read6 = try ClassicClientSwift6.throughFoundation(peer)
        #expect(read5.0 == peer && read6.0 == peer)
        #expect(read5.0?.displayName == "ann" && read5.1.text == "ann")
        #expect(read6.0?.displayName == "ann" && read6.1.text == "ann")
    }

    @Test("the headers of Apple's framework can be imported by name")
    func submodules() {
        #expect(ClassicClient.throughSubmodule("ann").displayName == "ann")
        #expect(ClassicClientSwift6.throughSubmodules("bob").0.displayName == "bob")
    }
}
