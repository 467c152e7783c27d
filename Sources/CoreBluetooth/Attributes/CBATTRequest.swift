/// A central's wish to read or write. None ever comes here; the type lets delegates that mention it compile.
open class CBATTRequest: NSObject {
    /// Who asks.
    open var central: CBCentral { asker }

    /// What is asked for.
    open var characteristic: CBCharacteristic { subject }

    /// From which byte of the value on.
    open var offset: Int { start }

    /// What is read or written.
    open var value: Data?

    private let asker: CBCentral
    private let subject: CBCharacteristic
    private let start: Int

    /// A request from its parts.
    init(central: CBCentral, characteristic: CBCharacteristic, offset: Int, value: Data?) {
        asker = central
        subject = characteristic
        start = offset
        self.value = value
        super.init()
    }
}
