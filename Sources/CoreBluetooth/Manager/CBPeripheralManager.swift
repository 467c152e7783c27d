internal import BeaconMonitoring
internal import BeaconRadio

/// The object through which an app advertises: the device becomes a beacon.
///
/// Callbacks come on the queue that the manager is made with. Commands are accepted in
/// ``CBManagerState/poweredOn`` only; in other states they are dropped, and a line that begins with `API MISUSE` is
/// logged. Two things differ from Apple's systems, since listings of Apple's documents rely on them:
///
/// - A start while the state is still ``CBManagerState/unknown``, as right after `init`, is held and carried out once
/// the   state is known to be ``CBManagerState/poweredOn``.
/// - While a start is held, and from a start until ``stopAdvertising()`` or until advertising has ended by itself, the
/// manager   is kept alive, so that it need not be stored anywhere. Its delegate is not kept.
///
/// Advertising pauses while the radio is in ``CBManagerState/resetting`` or ``CBManagerState/unknown``, and resumes
/// with it. In ``CBManagerState/poweredOff``, ``CBManagerState/unsupported`` and ``CBManagerState/unauthorized`` it is
/// over and must be started again. Otherwise it continues until it is stopped or the process ends: there is no
/// background here in which a process would send less.
///
/// The radio sends iBeacon frames and nothing else. There is no server of attributes: services can be made, but not be
/// published: that fails with an error.
open class CBPeripheralManager: CBManager {
    private let advertiser: Advertiser
    private let delegates: DelegateBox<any CBPeripheralManagerDelegate>

    /// The object that receives events. It is not kept alive, and may be set on any thread.
    ///
    /// The first callback, of the state, waits for a delegate: one that is set late receives it, too.
    open weak var delegate: (any CBPeripheralManagerDelegate)? {
        get { delegates.delegate }
        set {
            guard delegates.setDelegate(newValue) else { return }
            answer { $0.delegates.delegateForHeldCallback()?.peripheralManagerDidUpdateState($0) }
        }
    }

    /// Creates a manager whose callbacks come on the main queue, to a delegate that is still to be set.
    public convenience init() {
        self.init(delegate: nil, queue: nil, options: nil)
    }

    /// Creates a manager that calls a delegate on a queue or, if that is nil, on the main queue.
    public convenience init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?) {
        self.init(delegate: delegate, queue: queue, options: nil)
    }

    /// Creates a manager that calls a delegate.
    ///
    /// - Parameters:
    ///   - delegate: receives the state once it is known, and from then on every event.
    ///   - queue: where callbacks are made; nil for the main queue.
    ///   - options: without effect here: no user is alerted, and nothing is restored.
    public init(delegate: (any CBPeripheralManagerDelegate)?, queue: DispatchQueue?, options: [String: Any]? = nil) {
        let core = ManagerCore(center: .current, queue: queue)
        delegates = DelegateBox(delegate)
        advertiser = Advertiser(center: core.center, context: core.context)
        super.init(core: core)
        let reference = WeakReference(self)
        core.begin { state in reference.object?.radioDidChange(to: state) }
    }

    private func radioDidChange(to state: RadioState) {
        if advertiser.radioDidChange(to: state) { BluetoothLog.misuse(of: self) }
        delegates.delegateOrHold()?.peripheralManagerDidUpdateState(self)
        // After the delegate, which may have stopped it or made a start of its own.
        advertiser.startHeld()
    }

    // MARK: - Authorization

    /// Returns the app's permission to share data.
    @available(*, deprecated, message: "Use CBManager.authorization.")
    open class func authorizationStatus() -> CBPeripheralManagerAuthorizationStatus {
        authorization == .denied ? .denied : .authorized
    }

    // MARK: - Advertising

    /// A Boolean value that says that the device advertises: after a start has succeeded, until it is stopped; not
    /// while it is paused.
    open var isAdvertising: Bool { advertiser.isSending }

    /// Begins to advertise. `peripheralManagerDidStartAdvertising(_:error:)` delivers the result.
    ///
    /// It fails with ``CBError/alreadyAdvertising`` where this manager advertises already, and with
    /// ``CBError/invalidParameters`` where the dictionary holds nothing that can be sent. What the radio cannot do is
    /// ``CBError/operationNotSupported``, any other failure of it ``CBError/unknown``; both carry the radio's own
    /// words. Should the radio become unable to continue, the same callback delivers the error.
    ///
    /// - Parameter advertisementData: the dictionary of `CLBeaconRegion.peripheralData(withMeasuredPower:)`, or a name
    ///   (``CBAdvertisementDataLocalNameKey``) and services (``CBAdvertisementDataServiceUUIDsKey``), or all of them. A
    ///   beacon's name and services are in its scan response. Keys that mean nothing are logged and left out.
    open func startAdvertising(_ advertisementData: [String: Any]?) {
        let advertisement = Advertisement(advertisementData ?? [:])
        let outcome = advertiser.start(advertisement.advert, for: self)
        if case .misuse = outcome { return BluetoothLog.misuse(of: self) }
        for remark in advertisement.remarks { BluetoothLog.warn(remark, about: self) }
        guard case .refused(let code) = outcome else { return }
        answer { $0.delegate?.peripheralManagerDidStartAdvertising($0, error: CBError(code)) }
    }

    /// Stops advertising, also a start that is held, and lets go of the manager.
    open func stopAdvertising() {
        if !advertiser.stop() { BluetoothLog.misuse(of: self) }
    }

    // MARK: - Attributes, which are not served

    /// Asks to publish a service; `peripheralManager(_:didAdd:error:)` follows with an error.
    open func add(_ service: CBMutableService) {
        guard acceptsCommands() else { return }
        // It is only passed on: the caller receives the same object, where it asked to be called, as with Apple's.
        let sent = UnsafeTransfer(service)
        answer { $0.delegate?.peripheralManager($0, didAdd: sent.value, error: Self.noServer) }
    }

    /// Removes a service; none is published.
    open func remove(_ service: CBMutableService) { _ = acceptsCommands() }

    /// Removes all services; none is published.
    open func removeAllServices() { _ = acceptsCommands() }

    /// Answers a request; none ever comes.
    open func respond(to request: CBATTRequest, withResult result: CBATTError.Code) { _ = acceptsCommands() }

    /// Sends a value to centrals that asked for it; none ever does.
    ///
    /// - Returns: false, since nothing is sent.
    @discardableResult
    open func updateValue(
        _ value: Data, for characteristic: CBMutableCharacteristic, onSubscribedCentrals centrals: [CBCentral]?
    ) -> Bool {
        _ = acceptsCommands()
        return false
    }

    /// Asks for quick answers to a central; none ever connects.
    open func setDesiredConnectionLatency(_ latency: CBPeripheralManagerConnectionLatency, for central: CBCentral) {
        _ = acceptsCommands()
    }

    /// Asks to offer a channel; `peripheralManager(_:didPublishL2CAPChannel:error:)` follows with an error.
    open func publishL2CAPChannel(withEncryption encryptionRequired: Bool) {
        guard acceptsCommands() else { return }
        answer { $0.delegate?.peripheralManager($0, didPublishL2CAPChannel: 0, error: Self.noServer) }
    }

    /// Withdraws a channel; `peripheralManager(_:didUnpublishL2CAPChannel:error:)` follows with an error.
    open func unpublishL2CAPChannel(_ PSM: CBL2CAPPSM) {
        guard acceptsCommands() else { return }
        answer { $0.delegate?.peripheralManager($0, didUnpublishL2CAPChannel: PSM, error: Self.noServer) }
    }

    private static var noServer: CBError {
        CBError(
            .operationNotSupported,
            userInfo: [NSLocalizedDescriptionKey: "Services and channels cannot be published here, only beacons."])
    }

    /// Answers a command where callbacks are made. The manager is kept until then.
    private func answer(_ call: @escaping @Sendable (CBPeripheralManager) -> Void) {
        // Counting references is safe on any thread, and the callback uses the manager where its owner expects it.
        let sent = UnsafeTransfer(self)
        core.makeCallback { call(sent.value) }
    }
}

/// The state of a peripheral manager before iOS 10: a type of its own with the cases of ``CBManagerState``.
@available(*, deprecated, message: "Use CBManagerState.")
public enum CBPeripheralManagerState: Int, Sendable, BitwiseCopyable {
    /// Not known so far: the state is reported soon after a manager is made.
    case unknown = 0

    /// The connection to the system broke off; a new state follows.
    case resetting = 1

    /// There is no Bluetooth Low Energy here.
    case unsupported = 2

    /// The app may not use Bluetooth.
    case unauthorized = 3

    /// Bluetooth is off.
    case poweredOff = 4

    /// Bluetooth is on.
    case poweredOn = 5
}

/// The app's permission to share data in the background, before iOS 13.
@available(*, deprecated, message: "Use CBManagerAuthorization.")
public enum CBPeripheralManagerAuthorizationStatus: Int, Sendable, BitwiseCopyable {
    /// Not decided so far.
    case notDetermined = 0

    /// Not allowed, and the user could not change that.
    case restricted = 1

    /// Not allowed: the user, here the machine's administrator, said no.
    case denied = 2

    /// Allowed.
    case authorized = 3
}

/// The latency of answers to a connected central. Nothing here connects.
public enum CBPeripheralManagerConnectionLatency: Int, Sendable, BitwiseCopyable {
    /// Quickly, at the cost of power.
    case low = 0

    /// A balance of both.
    case medium = 1

    /// Slowly, saving power.
    case high = 2
}
