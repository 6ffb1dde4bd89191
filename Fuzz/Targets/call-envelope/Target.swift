import FuzzBodies

#if FUZZING
    /// Where libFuzzer enters.
    @_cdecl("LLVMFuzzerTestOneInput")
    public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
        unsafe FuzzBody.callEnvelope.attack(start, count)
        return 0
    }
#else
    @main
    enum Target {
        static func main() { FuzzBody.callEnvelope.replay() }
    }
#endif
