/// How the command ends. Every `--help` lists them.
package enum ExitCode: Int32, CaseIterable, Sendable {
    case success = 0
    case linkFailed = 1
    case usage = 2
    case badInput = 3
    case system = 4
    case incomplete = 5
    case interrupted = 130

    package var meaning: String {
        switch self {
        case .success: "success"
        case .linkFailed: "the link could not be made, or ended badly; 'doctor' has found a problem"
        case .usage: "the command line is wrong"
        case .badInput: "connection data, an identity or a passphrase does not serve"
        case .system: "a file or a socket failed"
        case .incomplete: "linked, but not every file was transferred"
        case .interrupted: "interrupted by a signal"
        }
    }
}
