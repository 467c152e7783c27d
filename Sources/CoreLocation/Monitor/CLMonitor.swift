/// Watches conditions and tells when they change.
public actor CLMonitor {
}
