// The system's C library: glibc, or musl, for statically linked programs.
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#else
    #error("there is no C library that this package knows")
#endif
