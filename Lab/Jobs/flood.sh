# Adverts in large numbers: none is lost, and a process that monitors a beacon sleeps through foreign ones.
# generations: legacy extended
# limit: 120

plug 0
up 0
background scan beacon scan --source hci:hci0 --json
check "hci0 scans" within 20 air_is scanning 1 state 0
check "a flood of 2500 adverts a second begins" air flood 500 2000 10
over() { air_is over 1 flooded; }
within 60 over
sent=$(air_value beacons flooded)

# Each number arrives exactly once: as many lines as adverts sent, and as many different numbers.
flooded='"uuid":"f100df10-0df1-400d-8f10-0df100df100d"'
all_heard() { [ "$(grep -c "$flooded" /out/scan.log)" -ge "$sent" ]; }
within 30 all_heard
end scan
numbers() { sed -n "s/.*$flooded,\"major\":\([0-9]*\),\"minor\":\([0-9]*\),.*/\1 \2/p" /out/scan.log | awk '{ print $1 * 65536 + $2 }'; }
complete() {
    numbers >/tmp/numbers
    echo "$sent sent in 10 s, $(wc -l </tmp/numbers) heard, $(sort -u /tmp/numbers | wc -l) different"
    [ "$(wc -l </tmp/numbers)" = "$sent" ] && [ "$(sort -u /tmp/numbers | wc -l)" = "$sent" ]
}
check "each advert was heard exactly once" complete
complete | sed 's/^/     | /'
rm /out/scan.log
enough() { echo "$sent sent"; [ "$sent" -ge 15000 ]; }
check "the serial line transmitted nearly all of the flood" enough

# With the kernel's filter. The process's wake-ups are its threads' voluntary context switches.
background monitor beacon monitor --region E2C56DB5-DFFB-48D2-B060-D0F5A71096E0 --source hci:hci0 --json
check "hci0 scans for the monitor" within 20 air_is scanning 1 state 0
woken() { awk '/^voluntary/ { sum += $2 } END { print sum }' /proc/"$(pid_of monitor)"/task/*/status; }
air flood 1000 0 25
quiet() { [ "$(air_value foreign flooded)" -ge 3000 ]; }
within 30 quiet
before=$(woken)
begin=$(uptime_hundredths)
foreign=$(air_value foreign flooded)
passed() { [ "$(uptime_hundredths)" -ge $((begin + 1000)) ]; }
within 30 passed
wakeups=$(($(woken) - before))
# A busy host makes the wait longer than ten seconds.
span=$(($(uptime_hundredths) - begin))
foreign=$(($(air_value foreign flooded) - foreign))
asleep() {
    echo "$foreign foreign adverts in $((span / 100)) s woke the process $wakeups times"
    [ "$foreign" -ge 5000 ] && [ $((wakeups * 100)) -le $((span + 100)) ]
}
check "foreign adverts wake the monitor at most once a second" asleep
asleep | sed 's/^/     | /'
air stop
air start standing
check "the monitor still wakes for its beacon" within 20 contains /out/monitor.log '"event":"enter"'
end monitor
check "the controller lost nothing" air_is overruns 0 state 0
