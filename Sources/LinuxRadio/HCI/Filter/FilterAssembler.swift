import CBluetooth

/// An assembler for the kernel's classic packet filter (Documentation/networking/filter.rst; linux/bpf_common.h).
///
/// A conditional jump reaches 255 instructions, an unconditional jump any distance. So each jump to a label is an
/// unconditional jump that a conditional one skips.
struct FilterAssembler {
    /// Labels that jumps lead to. Each label follows all jumps to it.
    enum Label: Int, CaseIterable {
        case legacy, walk, decide, drop, pass
    }

    private var instructions: [sock_filter] = []
    private var jumps: [(instruction: Int, label: Label)] = []
    private var positions = [Int](repeating: 0, count: Label.allCases.count)

    /// The complete program, once all labels have a position.
    var program: [sock_filter] {
        var program = instructions
        for (instruction, label) in jumps {
            program[instruction].k = UInt32(positions[label.rawValue] - instruction - 1)
        }
        return program
    }

    private mutating func write(_ code: Int32, _ k: UInt32 = 0, jt: UInt8 = 0, jf: UInt8 = 0) {
        instructions.append(sock_filter(code: UInt16(code), jt: jt, jf: jf, k: k))
    }

    // MARK: - Labels

    /// Places a label at the next instruction.
    mutating func place(_ label: Label) { positions[label.rawValue] = instructions.count }

    /// Jumps to a label.
    mutating func jump(to label: Label) {
        jumps.append((instructions.count, label))
        write(BPF_JMP | BPF_JA)
    }

    /// Jumps to a label if the accumulator equals `value`.
    mutating func when(equal value: UInt32, goTo label: Label) {
        write(BPF_JMP | BPF_JEQ | BPF_K, value, jf: 1)
        jump(to: label)
    }

    /// Jumps to a label if the accumulator does not equal `value`.
    mutating func unless(equal value: UInt32, goTo label: Label) {
        write(BPF_JMP | BPF_JEQ | BPF_K, value, jt: 1)
        jump(to: label)
    }

    /// Jumps to a label if the accumulator is less than `value`.
    mutating func unless(atLeast value: UInt32, goTo label: Label) {
        write(BPF_JMP | BPF_JGE | BPF_K, value, jt: 1)
        jump(to: label)
    }

    /// Jumps to a label if the accumulator has any of these bits.
    mutating func when(anyOf bits: UInt32, goTo label: Label) {
        write(BPF_JMP | BPF_JSET | BPF_K, bits, jf: 1)
        jump(to: label)
    }

    /// Skips `count` instructions if the accumulator does not equal `value`.
    mutating func unless(equal value: UInt32, skip count: UInt8) {
        write(BPF_JMP | BPF_JEQ | BPF_K, value, jf: count)
    }

    // MARK: - The accumulator, the index X and the memory

    /// Loads the byte at this offset of the packet.
    mutating func loadByte(at offset: UInt32) { write(BPF_LD | BPF_B | BPF_ABS, offset) }

    /// Loads the byte at this offset from X.
    mutating func loadByte(behindIndex offset: UInt32) { write(BPF_LD | BPF_B | BPF_IND, offset) }

    /// Loads four bytes at this offset from X, most significant first.
    mutating func loadWord(behindIndex offset: UInt32) { write(BPF_LD | BPF_W | BPF_IND, offset) }

    /// Loads the length of the packet in bytes.
    mutating func loadLength() { write(BPF_LD | BPF_W | BPF_LEN) }

    /// Loads the accumulator from memory.
    mutating func load(_ memory: UInt32) { write(BPF_LD | BPF_MEM, memory) }

    /// Stores the accumulator in memory.
    mutating func store(_ memory: UInt32) { write(BPF_ST, memory) }

    /// Adds a number to the accumulator.
    mutating func add(_ value: UInt32) { write(BPF_ALU | BPF_ADD | BPF_K, value) }

    /// Adds X to the accumulator.
    mutating func addIndex() { write(BPF_ALU | BPF_ADD | BPF_X) }

    /// Subtracts X from the accumulator.
    mutating func subtractIndex() { write(BPF_ALU | BPF_SUB | BPF_X) }

    /// Sets X to `value`.
    mutating func setIndex(_ value: UInt32) { write(BPF_LDX | BPF_W | BPF_IMM, value) }

    /// Copies the accumulator to X.
    mutating func moveToIndex() { write(BPF_MISC | BPF_TAX) }

    // MARK: - The verdict

    /// Receives the whole packet.
    mutating func pass() { write(BPF_RET | BPF_K, 0xFFFF) }

    /// Drops the packet.
    mutating func drop() { write(BPF_RET | BPF_K, 0) }
}
