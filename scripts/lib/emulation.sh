# Sourced: runs programs of 64-bit Arm on this machine, emulated by qemu-user, also in other roots and in images.
needs qemu-user-static which qemu-aarch64-static
needs binfmt-support which update-binfmts

# Tells the kernel to start them. Without systemd, the installation of the packages has not done that.
enable_emulation() {
    [ -e /proc/sys/fs/binfmt_misc/register ] || mount -t binfmt_misc none /proc/sys/fs/binfmt_misc
    update-binfmts --enable qemu-aarch64
}
