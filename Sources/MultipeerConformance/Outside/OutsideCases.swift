/// The cases that are judged from outside.
package enum OutsideCases {
    /// Why the others are not judged, which is not that they passed.
    package static let reason = "not judged: it needs control of the peer"

    /// Each shows on the wire alone what it is about, finds a planted fault from outside, and needs a single peer that may say
    /// anything once it is linked: `multipeer link` passes all of them.
    package static let judged: Set = [
        "ENC-11", "ENC-13", "ENC-14", "ENC-15", "ENC-16", "ENC-17", "ENC-18", "ENC-20", "ENC-25",
        "LINK-03", "LINK-04", "LINK-06", "LINK-08", "LINK-11", "LINK-12", "LINK-13", "LINK-14", "LINK-15",
        "LINK-16", "LINK-18", "LINK-19", "LINK-23", "LINK-26", "LINK-28", "LINK-29", "LINK-30", "LINK-31",
        "FRM-01", "FRM-03", "FRM-04", "FRM-06", "FRM-07", "FRM-09", "FRM-10", "FRM-11",
        "MSG-10", "LIM-01", "LIM-02", "LIM-03", "LIM-09",
    ]
}
