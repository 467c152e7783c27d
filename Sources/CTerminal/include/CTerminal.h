#pragma once

// Swift cannot call ioctl, which is variadic. Returns 0 and the size of the terminal in characters, or -1.
int beacon_terminal_size(int descriptor, unsigned short *rows, unsigned short *columns);
