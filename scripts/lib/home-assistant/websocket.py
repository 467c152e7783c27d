"""A WebSocket client (RFC 6455) for the text messages of Home Assistant and Chromium."""

import base64
import os
import socket
import struct

TEXT, CLOSE, PING, PONG = 0x1, 0x8, 0x9, 0xA


class WebSocket:
    """A connection. One thread may send while another one receives."""

    def __init__(self, port, path, host="127.0.0.1"):
        self.socket = socket.create_connection((host, port), timeout=60)
        key = base64.b64encode(os.urandom(16)).decode()
        self.socket.sendall(
            f"GET {path} HTTP/1.1\r\nHost: {host}:{port}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode())
        self.buffer = b""
        while b"\r\n\r\n" not in self.buffer:
            self.fill()
        head, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise ConnectionError(head.decode(errors="replace"))
        self.socket.settimeout(None)

    def fill(self):
        part = self.socket.recv(1 << 16)
        if not part:
            raise ConnectionError("the WebSocket has ended")
        self.buffer += part

    def take(self, count):
        while len(self.buffer) < count:
            self.fill()
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def send(self, text, kind=TEXT):
        payload, mask = text.encode() if isinstance(text, str) else text, os.urandom(4)
        length = len(payload)
        if length < 126:
            head = struct.pack(">BB", 0x80 | kind, 0x80 | length)
        elif length < 1 << 16:
            head = struct.pack(">BBH", 0x80 | kind, 0x80 | 126, length)
        else:
            head = struct.pack(">BBQ", 0x80 | kind, 0x80 | 127, length)
        masked = bytes(byte ^ mask[index % 4] for index, byte in enumerate(payload))
        self.socket.sendall(head + mask + masked)

    def receive(self):
        """Returns the next message. Raises ConnectionError at the end."""
        message = b""
        while True:
            first, second = self.take(2)
            length = second & 0x7F
            if length == 126:
                length = struct.unpack(">H", self.take(2))[0]
            elif length == 127:
                length = struct.unpack(">Q", self.take(8))[0]
            payload, kind = self.take(length), first & 0x0F
            if kind == CLOSE:
                raise ConnectionError("the WebSocket was closed")
            if kind == PING:
                self.send(payload, PONG)
            elif kind != PONG:
                message += payload
                if first & 0x80:
                    return message.decode()

    def close(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.socket.close()
