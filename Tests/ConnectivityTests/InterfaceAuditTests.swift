import TestSupport
import Testing

/// `interface --check` compares the file that is read here with the module itself.
@Suite("Apple's interface", .computing)
struct InterfaceAuditTests {
    let apple: AppleInterface
    let ours: OurInterface

    init() throws {
        apple = try InterfaceFiles.apple()
        ours = try InterfaceFiles.ours()
    }

    @Test("Apple's headers have 78 symbols, and the list has all of them")
    func count() {
        #expect(apple.chapters.prefix(13).map(\.entries.count).reduce(0, +) == 78)
        for chapter in apple.chapters {
            #expect(chapter.entries.count == chapter.count, "\(chapter.heading)")
        }
        #expect(Set(apple.entries.map(\.apple)).count == apple.entries.count)
    }

    @Test(
        "every declaration of Apple's exists with the same text, or with a reason for the difference"
    )
    func declarations() {
        for entry in apple.entries {
            #expect(ours.contains(entry.expected), "\(entry.expected)")
        }
    }

    @Test("every listed difference has a reason and exists")
    func differences() {
        for entry in apple.entries where entry.here != nil || entry.because != nil {
            #expect(entry.because?.isEmpty == false, "\(entry.apple)")
            #expect(entry.expected != entry.apple && !ours.contains(entry.apple), "\(entry.apple)")
        }
    }

    @Test("a delegate's optional methods are those that are optional on Apple's platforms")
    func optionalRequirements() {
        let optional = ours.declarations.filter { $0.contains(": optional func ") }
        #expect(optional == Set(apple.entries.map(\.expected).filter { $0.contains(": optional func ") }))
        let main = ["MCSession", "MCNearbyServiceAdvertiser", "MCNearbyServiceBrowser"]
        #expect(
            optional.filter { declaration in main.contains { declaration.hasPrefix("\($0)Delegate:") } }.count
                == 3)
    }

    @Test("a delegate needs no method that Apple does not require")
    func requirements() {
        let delegates = apple.entries.map(\.owner).filter { $0.hasSuffix("Delegate") }
        for declaration in ours.declarations where delegates.contains(declaration.prefix { $0 != ":" }) {
            #expect(apple.entries.contains { $0.expected == declaration }, "\(declaration)")
        }
    }
}
