# Functions for jobs. The guest's init sources this file; /out is the job's folder on the host.

# check "statement" COMMAND...: runs COMMAND and reports whether it succeeded. A job continues after a failure, to show
# all problems at once.
check() {
    what=$1
    shift
    if "$@" >/tmp/check.log 2>&1; then
        say "ok   $what"
    else
        say "FAIL $what"
        sed 's/^/     | /' /tmp/check.log
        { echo "== $what: $*"; cat /tmp/check.log; } >>/out/failures.log
    fi
}
say() { echo "$1"; echo "$1" >>/out/results; }

# within SECONDS COMMAND...: repeats COMMAND until it succeeds, for SECONDS at most. Jobs wait with this function, never
# with a fixed sleep. The output of COMMAND is shown only once it has finally failed.
within() {
    _until=$(($(uptime_hundredths) + $1 * 100))
    shift
    until "$@" >/tmp/within.log 2>&1; do
        if [ "$(uptime_hundredths)" -ge $_until ]; then
            cat /tmp/within.log
            return 1
        fi
        sleep 0.1
    done
}
uptime_hundredths() { cut -d' ' -f1 /proc/uptime | tr -d .; }

# contains FILE PATTERN; at_least COUNT FILE PATTERN; lacks FILE PATTERN. Patterns are extended regular expressions.
contains() { grep -aqE -e "$2" "$1" || { echo "$1 has no $2:"; tail -20 "$1"; false; }; }
lacks() { ! grep -aE -e "$2" "$1"; }
at_least() { _n=$(grep -acE -e "$3" "$2"); [ "${_n:-0}" -ge "$1" ] || { echo "$2 has $3 only ${_n:-0} times"; false; }; }

# background NAME COMMAND...: runs COMMAND with its output in NAME.log and its errors in NAME.err. end NAME stops it
# with TERM, waits for it and returns its exit status. COMMAND must be a program: for a function, only the surrounding
# shell would be stopped.
background() {
    _name=$1
    shift
    "$@" >"/out/$_name.log" 2>"/out/$_name.err" &
    eval "pid_$_name=$!"
}
pid_of() { eval "echo \$pid_$1"; }
end() {
    kill -TERM "$(pid_of "$1")" 2>/dev/null
    wait "$(pid_of "$1")" 2>/dev/null
}
is_running() { kill -0 "$(pid_of "$1")" 2>/dev/null; }

# backwards UUID: prints an iBeacon's UUID as btmon does, last byte first (btmon 5.66).
backwards() { echo "$1" | sed 's/-//g; s/../& /g' | awk '{ for (i = NF; i > 0; i--) printf "%s", $i }' | sed 's/\(.\{8\}\)\(.\{4\}\)\(.\{4\}\)\(.\{4\}\)/\1-\2-\3-\4-/'; }

# air COMMAND...: sends the air a command and prints the answer; air_value KEY COMMAND... prints one of its values. See
# Lab/README.md.
for _port in /sys/class/virtio-ports/*; do
    [ "$(cat "$_port/name" 2>/dev/null)" != air ] || exec 8<>"/dev/${_port##*/}"
done
air() {
    echo "$*" >&8
    read -r _answer <&8
    echo "$_answer"
    case $_answer in ok*) true ;; *) false ;; esac
}
air_value() {
    _key=$1
    shift
    air "$@" | tr ' ' '\n' | sed -n "s/^$_key=//p"
}
# air_is KEY VALUE COMMAND...: succeeds if the answer has this value.
air_is() {
    _k=$1 _v=$2
    shift 2
    _is=$(air_value "$_k" "$@")
    [ "$_is" = "$_v" ] || { echo "$_k is $_is"; false; }
}

# plug N: attaches controller N and waits until the kernel has set it up. Attach one at a time: controllers attached
# together get random numbers. unplug N removes it as if it were pulled out: it is off when it returns.
plug() {
    stty -F "/dev/hvc$1" raw -echo
    background "btattach$1" btattach -B "/dev/hvc$1" -P h4
    within 30 is_set_up "$1"
}
is_set_up() { hciconfig "hci$1" 2>/dev/null | grep -q 'BD Address: 02:BE'; }
unplug() {
    end "btattach$1"
    air power-cycle "$1" >/dev/null
    within 10 is_gone "$1"
}
is_gone() { [ ! -e "/sys/class/bluetooth/hci$1" ]; }

# up N: makes the kernel switch an adapter on, if no bluetoothd does.
up() { within 20 hciconfig "hci$1" up; }

# raw_scan N on|off and raw_advertise N on|off [UUID MAJOR MINOR]: send commands to the controller as another program on
# a raw HCI socket would. They depend on the generation: the kernel has used one kind of advertising commands, and the
# controller then refuses the other kind. UUID, MAJOR and MINOR are hexadecimal bytes.
hci() {
    _hci=$1
    shift
    hcitool -i "hci$_hci" cmd 0x08 "$@" >>/out/hcitool.log 2>&1
}
raw_scan() {
    _on=$([ "$2" = on ] && echo 01 || echo 00)
    if [ "$generation" = extended ]; then
        [ "$_on" = 00 ] || hci "$1" 0x0041 00 00 01 00 10 00 10 00
        hci "$1" 0x0042 "$_on" 00 00 00 00 00
    else
        [ "$_on" = 00 ] || hci "$1" 0x000b 00 10 00 10 00 00 00
        hci "$1" 0x000c "$_on" 00
    fi
}
raw_advertise() {
    _n=$1 _on=$([ "$2" = on ] && echo 01 || echo 00)
    _advert="02 01 06 1A FF 4C 00 02 15 $3 $4 $5 C5"
    if [ "$generation" = extended ]; then
        [ "$_on" = 00 ] || hci "$_n" 0x0036 05 10 00 A0 00 00 A0 00 00 07 00 00 00 00 00 00 00 00 00 7F 01 00 01 00 00
        [ "$_on" = 00 ] || hci "$_n" 0x0037 05 03 01 1E $_advert
        hci "$_n" 0x0039 "$_on" 01 05 00 00 00
    else
        [ "$_on" = 00 ] || hci "$_n" 0x0006 A0 00 A0 00 03 00 00 00 00 00 00 00 00 07 00
        [ "$_on" = 00 ] || hci "$_n" 0x0008 1E $_advert 00
        hci "$_n" 0x000a "$_on"
    fi
}

# start_bus; start_bluetoothd [OPTION...]: -E for advertisement monitors, -d for a detailed log, which slows it down.
start_bus() {
    mkdir -p /run/dbus
    background dbus dbus-daemon --system --nofork --nopidfile
    within 20 test -S /run/dbus/system_bus_socket
}
start_bluetoothd() {
    background bluetoothd bluetoothd -n "$@"
    within 30 bluez_answers
}
bluez_answers() { dbus-send --system --print-reply --dest=org.bluez / org.freedesktop.DBus.ObjectManager.GetManagedObjects 2>/dev/null | grep -q org.bluez.Adapter1; }

# capture: makes btmon record the traffic between kernel and controllers; captured writes it as text to btmon.txt. btmon
# buffers its output until it ends, so captured ends it first.
capture() {
    background btmon btmon -w /out/capture.btsnoop
    within 20 test -s /out/capture.btsnoop
}
captured() {
    end btmon
    btmon -r /out/capture.btsnoop >/out/btmon.txt
}

# now: prints the seconds since 1970 with fractions. The date applet of busybox, which its shell prefers, has no
# fractions.
now() { /usr/bin/date +%s.%N; }
