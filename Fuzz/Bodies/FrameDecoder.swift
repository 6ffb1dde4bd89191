extension FuzzBody {
    package static let frameDecoder = FuzzBody("frame-decoder") { bytes throws(BrokenPromise) in
        try promise(bytes.count >= 0, "comes with its module")
    }
}
