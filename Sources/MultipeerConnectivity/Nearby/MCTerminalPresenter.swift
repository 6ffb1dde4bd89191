import Foundation
import Multipeer
import MultipeerTransport

/// Asks about invitations on the terminal that the process was started from, even when its standard streams are redirected.
///
/// One question at a time, for all assistants of the process; any answer but `y` or `yes` declines. Without a terminal, or when
/// the process is in the background, it says so on standard error and declines.
public struct MCTerminalPresenter: MCInvitationPresenter {
    private static let mutex = AsyncMutex()
    private let path: String

    /// Creates a presenter that asks on `/dev/tty`.
    public init() { self.init(path: "/dev/tty") }

    /// Creates a presenter that asks on another terminal, for tests.
    package init(path: String) { self.path = path }

    /// Asks, and waits for a line.
    public func shouldAccept(_ invitation: MCPresentedInvitation) async -> Bool {
        await MCTerminalPresenter.mutex.lock()
        defer { MCTerminalPresenter.mutex.unlock() }
        if Task.isCancelled { return false }
        let inviter = invitation.inviter.displayName.withoutTricks
        func refuse(_ reason: String) -> Bool {
            let text = "declined an invitation from '\(inviter)': \(reason)\n"
            FileHandle.standardError.write(Data(text.utf8))
            return false
        }
        guard let terminal = TerminalLine(path) else { return refuse("there is no terminal to ask") }
        let contest = invitation.isContested ? " another peer claims to be the same one." : ""
        let answer = await terminal.ask(
            "'\(inviter)' invites you ('\(invitation.invitee.displayName.withoutTricks)', "
                + "\(invitation.serviceType.withoutTricks)).\(contest) accept? [y/N] ")
        guard let answer else {
            terminal.write("\n")
            return Task.isCancelled ? false : refuse("the terminal cannot be read")
        }
        return ["y", "yes"].contains(answer.lowercased().trimmingCharacters(in: .whitespacesAndNewlines))
    }
}

extension String {
    /// The text in a form that cannot change how a terminal shows its surroundings.
    var withoutTricks: String {
        var text = ""
        for scalar in escaping(\.isInvisible).unicodeScalars {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .privateUse, .unassigned:
                text += "\\u{" + String(scalar.value, radix: 16) + "}"
            default: text.unicodeScalars.append(scalar)
            }
        }
        return text.replacingOccurrences(of: "'", with: "\\u{27}")
    }
}
