"""A WSGI application under gunicorn with three workers, which are replaced after some requests, as in production.

A client asks for a page again and again, and goes on if it gets no answer.
"""
import http.client
import subprocess
import sys
import time
import urllib.error
import urllib.request

import wl

REQUESTS = 150
port = wl.free_port()
command = [sys.executable, "-m", "gunicorn.app.wsgiapp", "-b", f"127.0.0.1:{port}", "-w", "3", "--max-requests", "15"]
command += ["--graceful-timeout", "1", "--log-level", "debug", "--access-logfile", "-"]
command += ["wsgiref.simple_server:demo_app"]
server = subprocess.Popen(command, stdin=subprocess.DEVNULL)
wl.SERVERS.append(server)
try:
    wl.wait_for_port(port, 5)
except RuntimeError as error:
    print("client:", error, file=sys.stderr)
answers = []
for _ in range(REQUESTS):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", timeout=2) as answer:
            answer.read()
            answers.append(answer.status)
    except urllib.error.HTTPError as error:
        answers.append(error.code)
    except (OSError, http.client.HTTPException) as error:
        answers.append(0)
        if answers[-2:-1] != [0]:
            print("client:", error, file=sys.stderr)
    time.sleep(0.02)
served, last = answers.count(200), answers[-10:].count(200)
print(f"client: {served} of {REQUESTS} requests served", file=sys.stderr, flush=True)
wl.report(served=served, last=last, up=server.poll() is None)
server.terminate()
try:
    server.wait(3)
except subprocess.TimeoutExpired:
    pass
wl.finish()
