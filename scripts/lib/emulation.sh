# Sourced: lets this machine run 64-bit Arm programs, emulated by qemu-user, also in chroots and in images.
needs qemu-user-static which qemu-aarch64-static
needs binfmt-support which update-binfmts
# mmdebstrap asks it whether the emulator works.
needs arch-test which arch-test

# Registers the emulator with the kernel. Without systemd, installing the packages does not do it. Needs root.
enable_emulation() {
    [ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    update-binfmts --enable qemu-aarch64
}
