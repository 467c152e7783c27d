# One scenario in two worlds: beacon reports the same in the simulation and from the kernel.
# generations: legacy extended
# limit: 150

uuid=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
regions="--region hall=$uuid/1 --region vault=$uuid/2"
monitor="beacon monitor $regions --exit-timeout 4 --json"
range="beacon range $regions --receiver hci0 --json"
simulation="--source simulation:/opt/scenarios/visit.json --speed max"

check "beacon monitors the simulation" $monitor $simulation
$monitor $simulation >/out/monitor.expected
$range $simulation >/out/range.expected

plug 0
plug 1
up 0
up 1
background monitor $monitor --source hci:hci0
background range $range --source hci:hci0
check "hci0 scans" within 20 air_is scanning 1 state 0
check "ranging reports before the scenario begins" within 20 at_least 2 /out/range.log '"beacons":\[\]'

# Two programs that begin to scan with one adapter interfere with each other, and one may have to reset it. The scenario
# begins once ranging has reported for five consecutive seconds.
is_settled() {
    tail -n 10 /out/range.log | sed 's/.*"time":\([0-9]*\)\..*/\1/' | sort -un |
        awk 'NR == 1 { first = $1 } { last = $1 } END { exit !(NR >= 5 && last - first == NR - 1) }'
}
check "no program resets the adapter any longer" within 60 is_settled

# Reports arrive at whole seconds, in the simulation at whole seconds of its own time. The scenario begins at a whole
# second here, so that both report for the same times.
tenth() { now | cut -d. -f2 | cut -c1; }
until [ "$(tenth)" = 9 ]; do :; done
until [ "$(tenth)" = 0 ]; do :; done
start=$(now)
check "the scenario begins" air start visit
is_over() { air elapsed | awk '{ exit !($2 > 44) }'; }
within 90 is_over
end monitor
end range
check "neither program failed" lacks /out/monitor.err 'Error|Fatal'

# A tolerance of one second, since the clocks of host and guest are unsteady when a busy machine emulates the guest.
compare() { CompareRuns "$@" --start "$start" >"/out/$1.txt" 2>&1 || { cat "/out/$1.txt"; false; }; }
check "the same regions are entered and left, in the same order and at the same times" \
    compare monitor /out/monitor.log /out/monitor.expected --tolerance 1
# Signals vary by chance. The same walk with other seeds shows which proximities are possible.
check "the same beacons are at the same proximities each second" \
    compare range /out/range.log /out/range.expected /opt/visits/*
check "the controller lost nothing" air_is overruns 0 state 0
sed 's/^/     | /' /out/monitor.txt /out/range.txt
