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

    @Test("every declaration of Apple's is there with the same text, or with one that says why not")
    func declarations() {
        for entry in apple.entries {
            #expect(ours.contains(entry.expected), "\(entry.expected)")
        }
    }

    @Test("a difference has a reason, and is one")
    func differences() {
        for entry in apple.entries where entry.here != nil || entry.because != nil {
            #expect(entry.because?.isEmpty == false, "\(entry.apple)")
            #expect(entry.expected != entry.apple && !ours.contains(entry.apple), "\(entry.apple)")
        }
    }

    @Test("what a delegate may leave out is what it may leave out on Apple's platforms, and nothing else")
    func optionalRequirements() {
        let optional = ours.declarations.filter { $0.contains(": optional func ") }
        #expect(optional == Set(apple.entries.map(\.expected).filter { $0.contains(": optional func ") }))
        let main = ["MCSession", "MCNearbyServiceAdvertiser", "MCNearbyServiceBrowser"]
        #expect(
            optional.filter { declaration in main.contains { declaration.hasPrefix("\($0)Delegate:") } }.count
                == 3)
    }

    @Test("a delegate needs nothing that Apple does not ask for")
    func requirements() {
        let delegates = apple.entries.map(\.owner).filter { $0.hasSuffix("Delegate") }
        for declaration in ours.declarations where delegates.contains(declaration.prefix { $0 != ":" }) {
            #expect(apple.entries.contains { $0.expected == declaration }, "\(declaration)")
        }
    }
}
