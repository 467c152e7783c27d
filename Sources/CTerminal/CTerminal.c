#include "CTerminal.h"

#include <sys/ioctl.h>

int beacon_terminal_size(int descriptor, unsigned short *rows, unsigned short *columns) {
    struct winsize size;
    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0) {
        return -1;
    }
    *rows = size.ws_row;
    *columns = size.ws_col;
    return 0;
}
