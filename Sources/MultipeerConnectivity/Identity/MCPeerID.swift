public import Foundation
import Multipeer
public import MultipeerCore
import MultipeerFraming

/// A peer: 16 random bytes that are compared, and a name that is only shown.
///
/// Two with the same name differ; one archived and read back is equal to itself, on every machine. An id of another peer
/// comes from that peer alone: from a browser, an invitation, a session, or as an archive.
///
/// An archive holds one value, the same bytes each time, and names its class as `MultipeerConnectivity.MCPeerID`. It is read
/// under that name and under `MCPeerID`: in a module of another name, too, once that has made or asked for any id.
/// Around the value Foundation for Linux orders an archive anew in every process: compare ids, not archives.
open class MCPeerID: NSObject, NSCopying, NSSecureCoding {
    /// The peer in the native API.
    public var native: PeerID { id }

    // Not public: clients' subclasses and extensions have an `id` of their own.
    package private(set) var id: PeerID

    /// A new peer, of a name of 1 to 63 bytes of UTF-8 without control characters.
    ///
    /// An empty name stands for the name of this computer. Any other that does not fit ends the process, as it does with
    /// Apple's framework; `init(validating:)` throws.
    public init(displayName myDisplayName: String) {
        let name = myDisplayName.isEmpty ? MCPeerID.hostName : myDisplayName
        guard let id = try? PeerID(displayName: name) else {
            preconditionFailure("MCPeerID(displayName:): \(InvalidPeerID.displayName)")
        }
        self.id = id
        super.init()
        MCPeerID.archivedNames
    }

    /// The same, and throws `MCError.invalidParameter` for a name that does not fit, an empty one among them.
    public convenience init(validating displayName: String) throws {
        guard DisplayName.isValid(displayName) else {
            throw MCError(.invalidParameter, InvalidPeerID.displayName.description)
        }
        self.init(displayName: displayName)
    }

    /// The peer of the native API.
    public convenience init(_ id: PeerID) {
        self.init(displayName: id.displayName)
        self.id = id
    }

    /// Reads what `encode(with:)` wrote; nil for anything else.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: MCPeerID.key),
            let archived = coder.decodeObject(of: NSData.self, forKey: MCPeerID.key),
            let id = try? PeerID(archived: [UInt8](archived as Data))
        else { return nil }
        self.id = id
        super.init()
    }

    /// Archives the peer as one value, the same bytes each time.
    ///
    /// What the archiver writes around it is the same in one process only: for a number or a key that others find too, take
    /// `hash`, not the bytes of an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(NSData(data: Data(id.archived)), forKey: MCPeerID.key)
    }

    /// It can be read securely.
    open class var supportsSecureCoding: Bool {
        archivedNames
        return true
    }

    /// Itself: a peer cannot be changed.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The name that is shown. Two peers may have the same.
    open var displayName: String { id.displayName }

    /// Equal when the 16 bytes are, whatever the names.
    open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.id == id }

    /// The same number in every process and on every machine: two peers may compare it to find which is first.
    open override var hash: Int { id.hash }

    /// The name.
    open override var description: String { displayName }

    /// The name, and the 16 bytes.
    open override var debugDescription: String { "\(displayName) \(id.uid)" }

    private static let key = "id"

    /// Once, the names under which archives are read. Foundation for Linux reads by other names and writes its own alone.
    private static let archivedNames: Void = {
        for name in ["MCPeerID", "MultipeerConnectivity.MCPeerID"] {
            NSKeyedUnarchiver.setClass(MCPeerID.self, forClassName: name)
        }
    }()

    private static var hostName: String {
        let name = String(decoding: Text.prefix(ProcessInfo.processInfo.hostName, limit: 63), as: UTF8.self)
        return DisplayName.isValid(name) ? name : "peer"
    }
}
