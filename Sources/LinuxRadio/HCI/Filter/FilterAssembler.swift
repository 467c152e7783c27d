import CBluetooth

/// Writes programs of the kernel's classic packet filter (Documentation/networking/filter.rst; linux/bpf_common.h).
///
/// A conditional jump reaches 255 instructions, an unconditional one any; so each jump to a place with a name is one of
/// the latter that a conditional one skips.
struct FilterAssembler {
    /// Places that jumps lead to, each of which is behind all jumps to it.
    enum Place: Int, CaseIterable {
        case legacy, walk, decide, drop, pass
    }

    private var instructions: [sock_filter] = []
    private var jumps: [(instruction: Int, place: Place)] = []
    private var places = [Int](repeating: 0, count: Place.allCases.count)

    /// The whole, once all places are known.
    var program: [sock_filter] {
        var program = instructions
        for (instruction, place) in jumps { program[instruction].k = UInt32(places[place.rawValue] - instruction - 1) }
        return program
    }

    private mutating func write(_ code: Int32, _ k: UInt32 = 0, jt: UInt8 = 0, jf: UInt8 = 0) {
        instructions.append(sock_filter(code: UInt16(code), jt: jt, jf: jf, k: k))
    }

    // MARK: - Places

    /// Marks the next instruction as this place.
    mutating func place(_ place: Place) { places[place.rawValue] = instructions.count }

    /// Jumps to a place.
    mutating func jump(to place: Place) {
        jumps.append((instructions.count, place))
        write(BPF_JMP | BPF_JA)
    }

    /// Jumps to a place if the accumulator is this.
    mutating func when(equal value: UInt32, goTo place: Place) {
        write(BPF_JMP | BPF_JEQ | BPF_K, value, jf: 1)
        jump(to: place)
    }

    /// Jumps to a place if the accumulator is not this.
    mutating func unless(equal value: UInt32, goTo place: Place) {
        write(BPF_JMP | BPF_JEQ | BPF_K, value, jt: 1)
        jump(to: place)
    }

    /// Jumps to a place if the accumulator is less than this.
    mutating func unless(atLeast value: UInt32, goTo place: Place) {
        write(BPF_JMP | BPF_JGE | BPF_K, value, jt: 1)
        jump(to: place)
    }

    /// Jumps to a place if the accumulator has one of these bits.
    mutating func when(anyOf bits: UInt32, goTo place: Place) {
        write(BPF_JMP | BPF_JSET | BPF_K, bits, jf: 1)
        jump(to: place)
    }

    /// Skips so many instructions if the accumulator is not this.
    mutating func unless(equal value: UInt32, skip count: UInt8) {
        write(BPF_JMP | BPF_JEQ | BPF_K, value, jf: count)
    }

    // MARK: - The accumulator, the index X and the memory

    /// The byte at this place of the packet.
    mutating func loadByte(at offset: UInt32) { write(BPF_LD | BPF_B | BPF_ABS, offset) }

    /// The byte so far behind X.
    mutating func loadByte(behindIndex offset: UInt32) { write(BPF_LD | BPF_B | BPF_IND, offset) }

    /// Four bytes so far behind X, the first as the most significant.
    mutating func loadWord(behindIndex offset: UInt32) { write(BPF_LD | BPF_W | BPF_IND, offset) }

    /// The number of bytes of the packet.
    mutating func loadLength() { write(BPF_LD | BPF_W | BPF_LEN) }

    /// The value that was stored there.
    mutating func load(_ memory: UInt32) { write(BPF_LD | BPF_MEM, memory) }

    /// Keeps the accumulator there.
    mutating func store(_ memory: UInt32) { write(BPF_ST, memory) }

    /// Adds a number to the accumulator.
    mutating func add(_ value: UInt32) { write(BPF_ALU | BPF_ADD | BPF_K, value) }

    /// Adds X to the accumulator.
    mutating func addIndex() { write(BPF_ALU | BPF_ADD | BPF_X) }

    /// Sets X from the accumulator.
    mutating func subtractIndex() { write(BPF_ALU | BPF_SUB | BPF_X) }

    /// X becomes this.
    mutating func setIndex(_ value: UInt32) { write(BPF_LDX | BPF_W | BPF_IMM, value) }

    /// X becomes what the accumulator is.
    mutating func moveToIndex() { write(BPF_MISC | BPF_TAX) }

    // MARK: - The verdict

    /// The packet is received, whole.
    mutating func pass() { write(BPF_RET | BPF_K, 0xFFFF) }

    /// The packet is not received.
    mutating func drop() { write(BPF_RET | BPF_K, 0) }
}
