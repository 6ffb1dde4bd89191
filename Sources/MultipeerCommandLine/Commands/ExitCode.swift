/// The command's exit codes. Every `--help` lists them.
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
        case .linkFailed: "the link could not be established, or failed; 'doctor' found a problem"
        case .usage: "invalid command line"
        case .badInput: "invalid connection data, code, identity or passphrase"
        case .system: "file or socket error"
        case .incomplete: "linked, but not all files were transferred"
        case .interrupted: "interrupted: 128 and the number of the signal, 130 for Ctrl-C, 143 for SIGTERM"
        }
    }
}
