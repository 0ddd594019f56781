# SPDX-License-Identifier: MIT
"""A small web server for tests of captive portals.

    web.py ADDRESS PORT MODE_FILE ASKED [CERTIFICATE]

MODE_FILE holds what it answers with, read at each request: "open" (204), "portal URL" (302 to URL), "page" (200 with some
page), "online" (NetworkManager's header), "error" (500), "json TEXT" (200, application/captive+json), "hang" (nothing).
ASKED gets a line "METHOD PATH FROM" for each request. CERTIFICATE (a PEM file with its key) makes it https.
"""

import http.server
import ssl
import sys
import time


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):  # noqa: N802
        with open(self.server.asked, "a", encoding="ascii") as log:
            log.write(f"{self.command} {self.path} {self.client_address[0]}\n")
        with open(self.server.mode, encoding="utf-8") as mode:
            word, _, rest = mode.read().strip().partition(" ")
        body, headers = b"", {}
        if word == "hang":
            time.sleep(60)
            return
        if word == "portal":
            code, headers = 302, {"Location": rest}
        elif word == "page":
            code, body = 200, b"<html>Welcome to our hotel</html>" * 2000
        elif word == "online":
            code, body, headers = 200, b"NetworkManager is online\n", {"X-NetworkManager-Status": "online"}
        elif word == "error":
            code = 500
        elif word == "json":
            code, body, headers = 200, rest.encode(), {"Content-Type": "application/captive+json"}
        else:
            code = 204
        self.send_response(code)
        for name, value in headers.items():
            self.send_header(name, value)
        if code != 204:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def main():
    address, port, mode, asked = sys.argv[1:5]
    server = http.server.ThreadingHTTPServer((address, int(port)), Handler)
    server.daemon_threads = True
    server.mode, server.asked = mode, asked
    if len(sys.argv) > 5:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[5])
        server.socket = context.wrap_socket(server.socket, server_side=True)
    print("listening", flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main()
