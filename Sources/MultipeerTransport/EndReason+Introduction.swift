import MultipeerIntroduction
import MultipeerMesh

extension EndReason {
  init(_ x: IntroductionFailure) { self = .other("\(x)") }
  init(_ x: Introductions.Refusal) { self = .other("\(x)") }
  init(_ x: LinkEnd) { self = .other("\(x)") }
}
