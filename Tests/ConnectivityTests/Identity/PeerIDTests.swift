@preconcurrency import MultipeerConnectivity
import Multipeer
import MultipeerCore
import TestSupport
import Testing

@Suite("Facade: peer ids", .computing)
struct PeerIDTests {
    @Test("two ids with the same name differ, and both show it")
    func names() {
        let (one, other) = (MCPeerID(displayName: "ann"), MCPeerID(displayName: "ann"))
        #expect(one != other && one.displayName == "ann" && other.displayName == "ann")
        #expect(one.description == "ann" && one.debugDescription.hasPrefix("ann "))
        #expect(Set([one, other, one]).count == 2)
    }

    @Test("a copy, and an id of the same peer from another source, are equal and have the same hash")
    func equality() throws {
        let id = MCPeerID(displayName: "ann")
        let elsewhere = MCPeerID(id.id)
        #expect(id == elsewhere && id.isEqual(elsewhere) && id.hash == elsewhere.hash)
        #expect(id.hashValue == id.hash, "clients compare either")
        #expect(try #require(id.copy() as? MCPeerID) == id)
        #expect([id: 1][elsewhere] == 1)
        #expect(!id.isEqual("ann") && !id.isEqual(nil))
    }

    @Test("the hash is a function of the 16 bytes alone")
    func hash() throws {
        let bytes = (0..<16).map { UInt8($0) }
        let id = MCPeerID(try PeerID(archived: bytes + Array("ann".utf8)))
        #expect(id.hash == 0x0001_0203_0405_0607 ^ 0x0809_0a0b_0c0d_0e0f)
    }

    @Test("an archive gives the same peer back with every kind of archiver")
    func archives() throws {
        let id = MCPeerID(displayName: "änn")
        let data = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: true)
        #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: data) == id)
        #expect(try NSKeyedUnarchiver.unarchiveTopLevelObjectWithData(data) as? MCPeerID == id)

        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(id, forKey: "me")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        let again = unarchiver.decodeObject(of: MCPeerID.self, forKey: "me")
        #expect(again == id && again?.displayName == "änn")
    }

    @Test("an archive contains one value, with the same bytes each time")
    func oneValue() throws {
        let id = MCPeerID(displayName: "ann")
        let data = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: true)
        let plist = try PropertyListSerialization.propertyList(from: data, format: nil) as? [String: Any]
        let objects = try #require(plist?["$objects"] as? [Any])
        #expect(objects.compactMap { $0 as? Data } == [Data(id.native.archived)])
        #expect(objects.count == 4, "null, the id, its value, its class")
    }

    @Test(
        "an archive is also read under the name of Apple's class",
        arguments: ["MCPeerID", "Other.MCPeerID"])
    func archivedNames(_ name: String) throws {
        let id = MCPeerID(displayName: "ann")
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.outputFormat = .xml
        archiver.encode(id, forKey: NSKeyedArchiveRootObjectKey)
        archiver.finishEncoding()
        let text = String(decoding: archiver.encodedData, as: UTF8.self)
        #expect(text.contains("<string>MultipeerConnectivity.MCPeerID</string>"))
        let renamed = Data(text.replacingOccurrences(of: "MultipeerConnectivity.MCPeerID", with: name).utf8)
        if name == "MCPeerID" {
            #expect(try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: renamed) == id)
        } else {
            #expect(throws: (any Error).self) {
                try NSKeyedUnarchiver.unarchivedObject(ofClass: MCPeerID.self, from: renamed)
            }
        }
    }

    @Test(
        "an archive that does not contain a peer is not read",
        arguments: [[], [1, 2, 3], [UInt8](repeating: 1, count: 16)])
    func rubbish(_ bytes: [UInt8]) throws {
        let archiver = NSKeyedArchiver(requiringSecureCoding: true)
        archiver.encode(NSData(data: Data(bytes)), forKey: "id")
        archiver.finishEncoding()
        let unarchiver = try NSKeyedUnarchiver(forReadingFrom: archiver.encodedData)
        #expect(MCPeerID(coder: unarchiver) == nil)
        #expect(MCPeerID(coder: try NSKeyedUnarchiver(forReadingFrom: NSKeyedArchiver().encodedData)) == nil)
    }

    @Test("an id can be archived inside other objects")
    func containers() throws {
        let ids = [MCPeerID(displayName: "ann"), MCPeerID(displayName: "bob")]
        let data = try NSKeyedArchiver.archivedData(
            withRootObject: NSArray(array: ids), requiringSecureCoding: true)
        let classes: [AnyClass] = [NSArray.self, MCPeerID.self]
        let again = try NSKeyedUnarchiver.unarchivedObject(ofClasses: classes, from: data) as? [MCPeerID]
        #expect(again == ids)
    }

    @Test("an empty name is replaced by the computer's")
    func emptyName() { #expect(!MCPeerID(displayName: "").displayName.isEmpty) }

    @Test(
        "the validating initialiser throws for a name that other peers would see changed",
        arguments: ["", String(repeating: "x", count: 64), "a\nb", "a\u{202E}b"])
    func validating(_ name: String) {
        #expect(throws: MCError.self) { _ = try MCPeerID(validating: name) }
    }

    @Test("names of 1 to 63 bytes are accepted", arguments: ["x", String(repeating: "x", count: 63)])
    func longNames(_ name: String) throws {
        #expect(try MCPeerID(validating: name).displayName == name)
        #expect(MCPeerID(displayName: name).displayName == name)
    }

    @Test("a subclass is an id like any other")
    func subclass() throws {
        let id = NamedPeer(displayName: "ann")
        #expect(id.displayName == "«ann»" && MCPeerID(id.id) == id)
        let data = try NSKeyedArchiver.archivedData(withRootObject: id, requiringSecureCoding: false)
        #expect(!data.isEmpty)
    }
}

/// As clients derive theirs. Not private: Foundation for Linux ends the process when it archives a private class.
final class NamedPeer: MCPeerID {
    override init(displayName myDisplayName: String) { super.init(displayName: myDisplayName) }

    required init?(coder: NSCoder) { super.init(coder: coder) }

    override var displayName: String { "«\(super.displayName)»" }

    override func encode(with coder: NSCoder) { super.encode(with: coder) }

    override class var supportsSecureCoding: Bool { true }
}
