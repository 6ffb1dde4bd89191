public import Foundation

// Properties of Foundation's progress on Apple's platforms that Linux lacks, under the same names. The values are those of
// `userInfo`, so they can be set there as well.
extension Progress {
    /// Bytes per second, averaged over the last few seconds; nil when unknown.
    public var throughput: Int? {
        get { number(.throughputKey)?.intValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .throughputKey) }
    }

    /// The remaining seconds at this rate; nil when unknown.
    public var estimatedTimeRemaining: TimeInterval? {
        get { number(.estimatedTimeRemainingKey)?.doubleValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .estimatedTimeRemainingKey) }
    }

    /// The file that is being sent, or the received file once it exists.
    public var fileURL: URL? {
        get { userInfo[.fileURLKey] as? URL }
        set { setUserInfoObject(newValue, forKey: .fileURLKey) }
    }

    /// The kind of file operation.
    public var fileOperationKind: FileOperationKind? {
        get { userInfo[.fileOperationKindKey] as? FileOperationKind }
        set { setUserInfoObject(newValue, forKey: .fileOperationKindKey) }
    }

    /// The total number of files: one, for a resource.
    public var fileTotalCount: Int? {
        get { number(.fileTotalCountKey)?.intValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .fileTotalCountKey) }
    }

    /// The number of completed files.
    public var fileCompletedCount: Int? {
        get { number(.fileCompletedCountKey)?.intValue }
        set { setUserInfoObject(newValue.map { NSNumber(value: $0) }, forKey: .fileCompletedCountKey) }
    }

    private func number(_ key: ProgressUserInfoKey) -> NSNumber? { userInfo[key] as? NSNumber }
}

extension Progress.FileOperationKind {
    /// The file is being sent, as on Apple's platforms.
    public static let uploading = Progress.FileOperationKind(rawValue: "NSProgressFileOperationKindUploading")
}
