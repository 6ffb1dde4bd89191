import class MultipeerConnectivity.MCPeerID
import class MultipeerConnectivity.MCSession
import enum MultipeerConnectivity.MCSessionState
import struct MultipeerConnectivity.MCError
import protocol MultipeerConnectivity.MCSessionDelegate
import let MultipeerConnectivity.MCErrorDomain

// Imports other than that of the whole module.

// idiom: imports of single declarations

func domain(of error: MCError, _ session: MCSession) -> (String, MCSessionState, (any MCSessionDelegate)?) {
    (MCErrorDomain, .notConnected, session.delegate)
}

// idiom: code under canImport

#if canImport(MultipeerConnectivity)
    func isAvailable() -> Bool { true }
#else
    func isAvailable() -> Bool { false }
#endif

// idiom: a type qualified with the name of the module

enum Session { case idle, running(MultipeerConnectivity.MCSession) }

func stop(_ session: Session) {
    if case .running(let session) = session { session.disconnect() }
}
