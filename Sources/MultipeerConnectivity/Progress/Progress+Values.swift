public import Foundation

// What Foundation's progress has on Apple's platforms and not on Linux, under the same names. The values are those of
// `userInfo`, so they can be set there as well.
extension Progress {
    /// Bytes in a second, averaged over the last few seconds; nil when nobody has said.
    public var throughput: Int? {
        get { number(.throughputKey)?.intValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .throughputKey) }
    }

    /// Seconds that it will still take at this rate; nil when nobody can tell.
    public var estimatedTimeRemaining: TimeInterval? {
        get { number(.estimatedTimeRemainingKey)?.doubleValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .estimatedTimeRemainingKey) }
    }

    /// The file that is sent, or the one that was received, once it is there.
    public var fileURL: URL? {
        get { userInfo[.fileURLKey] as? URL }
        set { setUserInfoObject(newValue, forKey: .fileURLKey) }
    }

    /// What happens to the file.
    public var fileOperationKind: FileOperationKind? {
        get { userInfo[.fileOperationKindKey] as? FileOperationKind }
        set { setUserInfoObject(newValue, forKey: .fileOperationKindKey) }
    }

    /// Files altogether: one, for a resource.
    public var fileTotalCount: Int? {
        get { number(.fileTotalCountKey)?.intValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .fileTotalCountKey) }
    }

    /// Files that are done.
    public var fileCompletedCount: Int? {
        get { number(.fileCompletedCountKey)?.intValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .fileCompletedCountKey) }
    }

    private func number(_ key: ProgressUserInfoKey) -> NSNumber? { userInfo[key] as? NSNumber }
}

extension Progress.FileOperationKind {
    /// The file is being sent: Apple's platforms have this one, too.
    public static let uploading = Progress.FileOperationKind(rawValue: "NSProgressFileOperationKindUploading")
}
