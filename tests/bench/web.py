# SPDX-License-Identifier: MIT
"""What a browser would feel: fresh TLS connections one after the other, and many HTTP/2 streams at once."""

import json
import pathlib
import re
import subprocess

from lib.lab import Failure, wait_until

PORT = 8443
FILES = {"small.html": 2_000, "style.css": 12_000, "script.js": 40_000, "image.webp": 120_000}

CONFIGURATION = """daemon off; worker_processes 1; error_log {folder}/nginx-error.log; pid {folder}/nginx.pid;
events {{ worker_connections 1024; }}
http {{
  access_log off; client_body_temp_path {folder}; proxy_temp_path {folder}; fastcgi_temp_path {folder};
  uwsgi_temp_path {folder}; scgi_temp_path {folder}; keepalive_requests 1000000; sendfile on;
  server {{
    listen {address}:{port} ssl http2; root {folder}/www; ssl_protocols TLSv1.3;
    ssl_certificate {folder}/web.crt; ssl_certificate_key {folder}/web.key; ssl_session_tickets off;
  }}
}}
"""


def start_server(server, joined):
    folder = pathlib.Path(server.lab.logs)
    www = folder / "www"
    www.mkdir(exist_ok=True)
    folder.chmod(0o755)
    for name, size in FILES.items():
        (www / name).write_bytes(bytes(i * 31 % 251 for i in range(size)))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes",
                    "-subj", "/CN=bench", "-days", "2", "-keyout", folder / "web.key", "-out", folder / "web.crt"],
                   check=True, capture_output=True)
    path = folder / "nginx.conf"
    path.write_text(f"user root;\n{CONFIGURATION.format(folder=folder, address=joined.server, port=PORT)}")
    program = server.start("nginx", "-e", folder / "nginx-error.log", "-c", path, name="nginx")
    wait_until(lambda: f":{PORT} " in server.run("ss", "-tnlH").stdout, "nginx", interval=0.05)
    return program


def fresh_connections(client, joined, count=200):
    """{median_ms, p95_ms, per_s}: a TCP connection, a TLS 1.3 handshake without a ticket, a small page, the end."""
    tool = pathlib.Path(__file__).with_name("https_client.py")
    done = client.run("/usr/bin/python3", tool, joined.server, PORT, count, timeout=600)
    return json.loads(done.stdout)


def mix(client, joined, requests):
    """{requests_per_s, mbit, median_ms, failed}: h2load, 50 connections with 10 streams each, over files of 2 to 120 KB."""
    uris = client.lab.logs / "uris.txt"
    uris.write_text("".join(f"https://{joined.server}:{PORT}/{name}\n" for name in FILES))
    done = client.run("h2load", "-n", requests, "-c", 50, "-m", 10, "-i", uris, timeout=600)
    rate = re.search(r"finished in ([\d.]+)(ms|s|m)?.*?, ([\d.]+) req/s, ([\d.]+)([KMG]?)B/s", done.stdout)
    counts = re.search(r"(\d+) succeeded, (\d+) failed, (\d+) errored, (\d+) timeout", done.stdout)
    times = re.search(r"time for request:\s+(\S+)\s+(\S+)\s+(\S+)", done.stdout)
    if not rate or not counts:
        raise Failure(f"h2load: {done.stdout[-300:]} {done.stderr[-200:]}")
    factor = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[rate[5]]
    return {"requests_per_s": float(rate[3]), "mbit": round(float(rate[4]) * factor * 8 / 1e6, 1),
            "mean_ms": milliseconds(times[3]) if times else None, "failed": int(counts[2]) + int(counts[3]) + int(counts[4])}


def milliseconds(text):
    found = re.match(r"([\d.]+)(us|ms|s|m)", text)
    return round(float(found[1]) * {"us": 1e-3, "ms": 1, "s": 1e3, "m": 6e4}[found[2]], 2) if found else None
