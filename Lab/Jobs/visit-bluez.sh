# The job visit by way of bluetoothd: the same regions in the same order.
# generations: legacy
# limit: 150

uuid=E2C56DB5-DFFB-48D2-B060-D0F5A71096E0
monitor="beacon monitor --region hall=$uuid/1 --region vault=$uuid/2 --exit-timeout 4 --json"

$monitor --source simulation:/opt/scenarios/visit.json --speed max >/out/monitor.expected
plug 0
start_bus
check "bluetoothd runs" start_bluetoothd -E
background monitor $monitor --source bluez:hci0
check "hci0 scans" within 30 air_is scanning 1 state 0
start=$(now)
check "the scenario begins" air start visit
is_over() { air elapsed | awk '{ exit !($2 > 44) }'; }
within 90 is_over
end monitor
# bluetoothd processes adverts at intervals, and reports only some of them.
compare() { CompareRuns monitor /out/monitor.log /out/monitor.expected --start "$start" --tolerance 3 >/out/comparison.txt 2>&1 || { cat /out/comparison.txt; false; }; }
check "the same regions are entered and left, in the same order" compare
sed 's/^/     | /' /out/comparison.txt
