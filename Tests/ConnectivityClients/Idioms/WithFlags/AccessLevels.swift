// mode: Swift 6, imports with access levels
// flags: -swift-version 6 -enable-upcoming-feature InternalImportsByDefault
// flags: -enable-upcoming-feature MemberImportVisibility -package-name app

public import MultipeerConnectivity

// Modules of an application that use the framework's types in their interfaces.

// idiom: the framework's types in a public interface

/// A service that other modules use.
public final class PublicService {
    /// The peers.
    public private(set) var peers: [MCPeerID] = []
    /// Called when a peer has changed its state.
    public var onChange: ((MCPeerID, MCSessionState) -> Void)?
    /// Creates the service.
    public init() {}
}

// idiom: an open subclass of a session

/// A session with a title.
open class TitledSession: MCSession {
    /// The title.
    open var title: String { "\(myPeerID.displayName)’s room" }
}

// idiom: a public delegate protocol that refines the framework's

/// A delegate that also wants the title.
public protocol TitledSessionDelegate: MCSessionDelegate {
    /// The title has changed.
    func session(_ session: TitledSession, didChangeTitle title: String)
}

// idiom: package access

package struct PackagePeer: Hashable {
    package var peer: MCPeerID
    package init(_ peer: MCPeerID) { self.peer = peer }
}
