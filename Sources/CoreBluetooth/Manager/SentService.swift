/// A service on its way back to the delegate of whom it was given by.
///
/// It is unchecked because services are not Sendable. It is only handed on: the one who gave it gets the same object, where
/// they asked to be called, as with Apple's.
struct SentService: @unchecked Sendable {
    let service: CBService
}
