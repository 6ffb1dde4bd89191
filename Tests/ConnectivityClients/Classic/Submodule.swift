import MultipeerConnectivity.MCPeerID

/// One of them will do.
package func throughSubmodule(_ name: String) -> MCPeerID { MCPeerID(displayName: name) }
