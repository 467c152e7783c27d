// The C library of the system, whichever it is: the GNU one, or musl, with which programs are linked that need no
// library.
#if canImport(Glibc)
    @_exported public import Glibc
#elseif canImport(Musl)
    @_exported public import Musl
#else
    #error("there is no C library that this package knows")
#endif
