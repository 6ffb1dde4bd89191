import Glibc
import Multipeer
import MultipeerCore
import MultipeerTransport
import TestSupport
import Testing

@unsafe @preconcurrency import MultipeerConnectivity

@Suite("Asking at the terminal", .inTurns)
struct TerminalPresenterTests {
    private let invitation: MCPresentedInvitation

    init() throws {
        invitation = MCPresentedInvitation(
            inviter: try PeerID(displayName: "an'n"), invitee: try PeerID(displayName: "bob"),
            serviceType: "chat", context: nil)
    }

    @Test(
        "only y and yes accept",
        arguments: [("y\n", true), (" YES \n", true), ("n\n", false), ("\n", false), ("yess\n", false)])
    func answers(_ typed: String, _ isYes: Bool) async throws {
        let screen = try PseudoTerminal()
        async let answer = MCTerminalPresenter(path: screen.path).shouldAccept(invitation)
        // The content of a name cannot be mistaken for the text around it.
        #expect(
            try await screen.reads(to: "[y/N] ").hasSuffix(
                "'an\\u{27}n' invites you ('bob', chat). accept? [y/N] "))
        screen.type(typed)
        #expect(await answer == isYes)
    }

    @Test("a question about an invitation that another peer contests says so")
    func contested() async throws {
        let screen = try PseudoTerminal()
        let contested = MCPresentedInvitation(
            inviter: invitation.inviter, invitee: invitation.invitee, serviceType: "chat", context: nil,
            isContested: true)
        async let answer = MCTerminalPresenter(path: screen.path).shouldAccept(contested)
        #expect(
            try await screen.reads(to: "[y/N] ").hasSuffix(
                "('bob', chat). another peer claims to be the same one. accept? [y/N] "))
        screen.type("n\n")
        #expect(await !answer)
    }

    @Test("a yes that was typed before the question is no answer to it")
    func typeAhead() async throws {
        let screen = try PseudoTerminal()
        let other = unsafe open(screen.path, O_RDWR | O_NOCTTY | O_CLOEXEC)
        defer { close(other) }
        screen.type("y\n")
        // The terminal has the line once it echoes it.
        _ = try await screen.reads(to: "y\r\n")
        async let answer = MCTerminalPresenter(path: screen.path).shouldAccept(invitation)
        _ = try await screen.reads(to: "[y/N] ")
        screen.type("n\n")
        #expect(await !answer)
    }

    @Test("a cancelled question is withdrawn, and the next one is asked after it")
    func cancelled() async throws {
        let screen = try PseudoTerminal()
        let (path, invitation) = (screen.path, invitation)
        let first = Task { await MCTerminalPresenter(path: path).shouldAccept(invitation) }
        _ = try await screen.reads(to: "[y/N] ")
        let second = Task { await MCTerminalPresenter(path: path).shouldAccept(invitation) }
        first.cancel()
        #expect(await !first.value)
        _ = try await screen.reads(to: "[y/N] ")
        screen.type("y\n")
        #expect(await second.value)
    }

    @Test("without a terminal the answer is no")
    func nowhere() async {
        #expect(await !MCTerminalPresenter(path: "/dev/null").shouldAccept(invitation))
        #expect(await !MCTerminalPresenter(path: "/nothing/there").shouldAccept(invitation))
    }
}

/// A terminal that the test sits at.
private final class PseudoTerminal: Sendable {
    let path: String
    private let descriptor: Int32

    struct Unavailable: Error {}

    private static let lock: UInt = 0x4004_5431  // TIOCSPTLCK
    private static let number: UInt = 0x8004_5430  // TIOCGPTN

    init() throws {
        descriptor = unsafe open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
        var (isLocked, number): (Int32, Int32) = (0, 0)
        guard descriptor >= 0, unsafe ioctl(descriptor, PseudoTerminal.lock, &isLocked) == 0,
            unsafe ioctl(descriptor, PseudoTerminal.number, &number) == 0
        else { throw Unavailable() }
        path = "/dev/pts/\(number)"
    }

    deinit { close(descriptor) }

    func type(_ text: String) {
        let bytes = Array(text.utf8)
        _ = unsafe write(descriptor, bytes, bytes.count)
    }

    /// What is shown until there is this text. Waits on a thread that may wait.
    func reads(to end: String) async throws -> String {
        let shown = Promise<Result<String, any Error>>()
        DispatchQueue.global().async { [self] in shown.send(Result { try read(to: end) }) }
        return try await shown.value().get()
    }

    private func read(to end: String) throws -> String {
        var shown = ""
        while !shown.hasSuffix(end) {
            var one = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard unsafe poll(&one, 1, 30_000) == 1 else { throw Unavailable() }
            var bytes = [UInt8](repeating: 0, count: 1_024)
            let count = unsafe Glibc.read(descriptor, &bytes, bytes.count)
            // The other end is not open yet.
            if count <= 0 {
                _ = usleep(1_000)
            } else {
                shown += String(decoding: bytes.prefix(count), as: UTF8.self)
            }
        }
        return shown
    }
}
