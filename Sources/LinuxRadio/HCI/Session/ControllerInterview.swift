/// Asks a controller what it can do.
struct ControllerInterview {
    private var questions = [HCICommand(.readSupportedCommands), HCICommand(.readLEFeatures)]

    /// What it has told so far.
    private(set) var features = ControllerFeatures()

    /// The next question, or nil where all are answered.
    var next: HCICommand? { questions.first }

    /// The controller answered the question that was next. A refusal is an answer too: it cannot do it.
    mutating func answered(_ status: HCIStatus, returned: RawSpan) {
        let opcode = questions.removeFirst().opcode
        guard status == .success else { return }
        switch opcode {
        case .readSupportedCommands:
            features.commands = (0..<returned.byteCount).map { returned[$0] }
        case .readLEFeatures where returned.byteCount >= 8:
            features.hasLE = true
            // Bit 12.
            features.hasExtendedAdvertising = returned[1] & 0x10 != 0
            if features.advertisesExtended { questions.append(HCICommand(.readAdvertisingSetCount)) }
        case .readAdvertisingSetCount where returned.byteCount >= 1:
            features.advertisingSets = Int(returned[0])
        default: break
        }
    }
}
