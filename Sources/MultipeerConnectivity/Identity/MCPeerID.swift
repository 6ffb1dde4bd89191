public import Foundation
import Multipeer
public import MultipeerCore
import MultipeerFraming

/// A peer: 16 bytes that identify it, random ones in each new id, and a name that is only displayed.
///
/// Two ids with the same name differ; one that is archived and read back is equal to the original, on every machine. An id of
/// another peer always originates from that peer: through a browser, an invitation, a session, or as an archive.
///
/// An archive holds one value, the same bytes each time, besides a name that other peers see changed, and names its class as
/// `MultipeerConnectivity.MCPeerID`. It is read under that name and under `MCPeerID`: in a module of another name, too, once that
/// has made or requested any id. Foundation for Linux orders the rest of an archive differently in every process, unless each runs
/// with `SWIFT_DETERMINISTIC_HASHING=1`: compare ids, and order them by `hash`; neither means anything of archives.
///
/// Read only archives that no one else could change. Foundation for Linux ends the process for some damaged ones, before this class
/// sees them. What comes from a peer or a shared file is `native`, as `Codable` or `archived`, which throws for anything else.
open class MCPeerID: NSObject, NSCopying, NSSecureCoding {
    /// The peer in the native API.
    public var native: PeerID { id }

    // Not public: clients' subclasses and extensions have an `id` of their own.
    package private(set) var id: PeerID
    /// The name that the application gave, where that of the id differs.
    private var given: String?

    /// Creates a new peer, with a name of 1 to 63 bytes of UTF-8 without control characters.
    ///
    /// An empty name stands for the name of this computer. Of a longer one other peers see the beginning, and in place of control
    /// characters, and of those that change the direction of text, spaces and U+FFFD; here the name stays as it was given.
    /// `init(validating:)` throws for all of these.
    public init(displayName myDisplayName: String) {
        id = PeerID(sanitizing: myDisplayName.isEmpty ? MCPeerID.hostName : myDisplayName)
        given = myDisplayName.isEmpty || myDisplayName == id.displayName ? nil : myDisplayName
        super.init()
        MCPeerID.archivedNames
        if myDisplayName.utf8.count > DisplayName.longest {
            ConsoleNotices.shared.write(
                once: "MCPeerID: a display name has at most 63 bytes; other peers see \(id.displayName)")
        }
    }

    /// Creates a new peer, and throws `MCError.invalidParameter` for an invalid name, including an empty one.
    public convenience init(validating displayName: String) throws {
        guard DisplayName.isValid(displayName) else {
            throw MCError(.invalidParameter, InvalidPeerID.displayName.description)
        }
        self.init(displayName: displayName)
    }

    /// Creates the id from a peer of the native API.
    public convenience init(_ id: PeerID) {
        self.init(displayName: id.displayName)
        self.id = id
        given = nil
    }

    /// Reads what `encode(with:)` wrote; returns nil for anything else.
    public required init?(coder: NSCoder) {
        guard coder.containsValue(forKey: MCPeerID.key),
            let archived = coder.decodeObject(of: NSData.self, forKey: MCPeerID.key),
            let id = try? PeerID(parsing: [UInt8](archived as Data))
        else { return nil }
        self.id = id
        let given =
            coder.containsValue(forKey: MCPeerID.nameKey)
            ? coder.decodeObject(of: NSString.self, forKey: MCPeerID.nameKey).map { "\($0)" } : nil
        self.given = given.flatMap { DisplayName.sanitized($0) == id.displayName ? $0 : nil }
        super.init()
    }

    /// Archives the peer as one value, the same bytes each time.
    ///
    /// The archiver's bytes around the value are only the same in one process: for a number, an order or a key that others can
    /// compute, too, use `hash`, not the bytes of an archive.
    open func encode(with coder: NSCoder) {
        coder.encode(NSData(data: Data(id.archived)), forKey: MCPeerID.key)
        if let given { coder.encode(NSString(string: given), forKey: MCPeerID.nameKey) }
    }

    /// True: the class supports secure coding.
    open class var supportsSecureCoding: Bool {
        archivedNames
        return true
    }

    /// Returns the same object: a peer is immutable.
    open func copy(with zone: NSZone? = nil) -> Any { self }

    /// The displayed name. Two peers may have the same.
    open var displayName: String { given ?? id.displayName }

    /// Equal when the 16 bytes are, whatever the names.
    open override func isEqual(_ object: Any?) -> Bool { (object as? MCPeerID)?.id == id }

    /// The same number in every process and on every machine: two peers may compare it to decide which is first.
    open override var hash: Int { id.hash }

    /// The name.
    open override var description: String { displayName }

    /// The name, and the 16 bytes.
    open override var debugDescription: String { "\(displayName) \(id.uid)" }

    private static let key = "id"
    private static let nameKey = "name"

    /// Registers, once, the names under which archives are read. Foundation for Linux reads other names, but writes only its own.
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
