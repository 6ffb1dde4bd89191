import MultipeerCore

/// The browse of one service type, and those for which it runs.
struct SystemService: Sendable {
    struct Browse: Sendable {
        let hidden: UID?
    }

    var browses: [BrowseID: Browse] = [:]
    var resolutions: Set<ResolveID> = []
    var table: SystemInstanceTable

    init(_ type: ServiceType, countsRepeats: Bool) {
        table = SystemInstanceTable(Binding.serviceName(type), countsRepeats: countsRepeats)
    }

    var isUnused: Bool { browses.isEmpty && resolutions.isEmpty }
}
