#!/usr/bin/env python3
"""Announces an ESPHome device by multicast DNS, as its firmware does.

usage: esphome_announcer.py NAME PORT
"""

import socket
import sys
import time

from zeroconf import ServiceInfo, Zeroconf

name, port = sys.argv[1], int(sys.argv[2])
network = Zeroconf(interfaces=["127.0.0.1"])
network.register_service(ServiceInfo(
    "_esphomelib._tcp.local.", f"{name}._esphomelib._tcp.local.", addresses=[socket.inet_aton("127.0.0.1")], port=port,
    properties={"mac": "aabbccddeeff", "version": "2026.6.0"}, server=f"{name}.local."))
print("announced", flush=True)
time.sleep(3600)
