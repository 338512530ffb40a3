"""A WSGI application under waitress: a load balancer that only opens and closes connections, and a few clients that ask.

A client that gets no answer leaves after a second. Then there is a quiet time, in which the load of the server's main
thread is measured. The log is that of a web server.
"""
import http.client
import logging
import socket
import sys
import threading
import time

import wl
from waitress.server import create_server

logging.basicConfig(format="%(message)s", stream=sys.stderr, level=logging.INFO)
access, log = logging.getLogger("access"), logging.getLogger("shop")
CHECKS, ASKING = 36, (4, 16, 28)


def stamp() -> str:
    return time.strftime("[%d/%b/%Y:%H:%M:%S +0000]", time.gmtime())


def app(environ, start_response):
    access.info('%s - - %s "%s %s HTTP/1.1" 200 5', environ["REMOTE_ADDR"], stamp(), environ["REQUEST_METHOD"], environ["PATH_INFO"])
    start_response("200 OK", [("Content-Length", "5")])
    return [b"hello"]


server = create_server(app, host="127.0.0.1", port=0, threads=2, channel_timeout=5, clear_untrusted_proxy_headers=True)
main = threading.Thread(target=server.run, name="waitress", daemon=True)
main.start()
port = server.effective_port
log.info("%s Serving on http://127.0.0.1:%s", stamp(), port)
answers = []
for n in range(CHECKS):
    if n in ASKING:
        client = http.client.HTTPConnection("127.0.0.1", port, timeout=1)
        try:
            client.request("GET", "/items/%d" % n, headers={"Connection": "close"})
            answers.append(client.getresponse().status)
        except OSError as error:
            answers.append(0)
            log.error("%s client %d: %s", stamp(), n, error)
        client.close()
    else:
        socket.create_connection(("127.0.0.1", port)).close()
    time.sleep(0.02)
log.info("%s health checks done, %d of %d clients were answered", stamp(), len(answers) - answers.count(0), len(answers))
time.sleep(0.3)
clock = time.pthread_getcpuclockid(main.ident)
before = time.clock_gettime(clock)
time.sleep(1)
load = time.clock_gettime(clock) - before
log.info("%s idle, load of the main thread %.0f %%, %d channels", stamp(), load * 100, len(server.active_channels))
wl.report(answers=answers, load=load, channels=len(server.active_channels))
wl.finish()
