# bluetoothd works with the controllers: discovery and advertisement monitors. The job bluez checks its adverts.
# generations: legacy extended
# limit: 90

plug 0
plug 1
check "the bus starts" start_bus
check "bluetoothd finds the adapters" start_bluetoothd -E -d
air start standing
is_powered() { hciconfig hci$1 | grep -q UP; }
check "bluetoothd powers hci0" within 20 is_powered 0
check "bluetoothd powers hci1" within 20 is_powered 1

# bluetoothctl reads commands from its input, and shows bluetoothd's reports while it is open.
mkfifo /tmp/ctl
exec 7<>/tmp/ctl
# A shell gives background jobs no input.
background bluetoothctl sh -c 'exec bluetoothctl </tmp/ctl'
send() { printf '%s\n' "$@" >&7; }
within 20 contains /out/bluetoothctl.log 'Controller 02:BE:00:00:00:01'
send "select 02:BE:00:00:00:00" "menu scan" "transport le" "back" "scan on"
check "discovery finds the standing beacon" within 30 contains /out/bluetoothctl.log 'NEW.*Device C0:11:22:33:44:55'
check "discovery switches the duplicate filter on" air_is filter 1 state 0
send "scan off"
check "discovery ends" within 20 air_is scanning 0 state 0

send "menu monitor" "add-or-pattern 0 255 4c000215" "back"
check "a monitor is activated" within 20 contains /out/bluetoothd.err 'Calling Activate'
check "a monitor finds the standing beacon" within 30 contains /out/bluetoothd.err 'device_found_callback.*C0:11:22:33:44:55'
check "a monitor leaves the duplicate filter off" air_is filter 0 state 0
