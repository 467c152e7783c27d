import CBluetooth

/// An interpreter for the kernel's classic packet filter, as far as ours use it (Documentation/networking/filter.rst).
struct FilterMachine {
    let program: [sock_filter]

    /// An operation that the kernel's verifier would not allow.
    struct Violation: Error {}

    /// Returns the program's decision.
    func passes(_ packet: [UInt8]) throws -> Bool {
        var accumulator: UInt32 = 0
        var index: UInt32 = 0
        var memory = [UInt32](repeating: 0, count: 16)
        var counter = 0
        while program.indices.contains(counter) {
            let step = program[counter]
            counter += 1
            switch Int32(step.code) {
            case BPF_LD | BPF_B | BPF_ABS, BPF_LD | BPF_B | BPF_IND:
                let place = Int(step.k &+ (Int32(step.code) & 0xE0 == BPF_IND ? index : 0))
                // A load from beyond the end drops the packet.
                guard place < packet.count else { return false }
                accumulator = UInt32(packet[place])
            case BPF_LD | BPF_W | BPF_IND:
                let place = Int(step.k &+ index)
                guard place + 4 <= packet.count else { return false }
                accumulator = packet[place..<place + 4].reduce(0) { $0 << 8 | UInt32($1) }
            case BPF_LD | BPF_W | BPF_LEN: accumulator = UInt32(packet.count)
            case BPF_LD | BPF_MEM: accumulator = memory[Int(step.k)]
            case BPF_ST: memory[Int(step.k)] = accumulator
            case BPF_LDX | BPF_W | BPF_IMM: index = step.k
            case BPF_MISC | BPF_TAX: index = accumulator
            case BPF_ALU | BPF_ADD | BPF_K: accumulator &+= step.k
            case BPF_ALU | BPF_ADD | BPF_X: accumulator &+= index
            case BPF_ALU | BPF_SUB | BPF_X: accumulator &-= index
            case BPF_JMP | BPF_JA: counter += Int(step.k)
            case BPF_JMP | BPF_JEQ | BPF_K: counter += Int(accumulator == step.k ? step.jt : step.jf)
            case BPF_JMP | BPF_JGE | BPF_K: counter += Int(accumulator >= step.k ? step.jt : step.jf)
            case BPF_JMP | BPF_JSET | BPF_K: counter += Int(accumulator & step.k != 0 ? step.jt : step.jf)
            case BPF_RET | BPF_K: return step.k > 0
            default: throw Violation()
            }
        }
        throw Violation()
    }
}
