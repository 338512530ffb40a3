"""A shop queues its mail in a maildir; a queue processor that runs again and again hands it to a real SMTP server.

Each round some mails are queued in transactions, or a single one to the billing of a big customer, then the queue is
run as `qp` does. In the last rounds nothing new is queued. What the server received and what is left in the queue is reported.
"""
import email.message
import logging
import os
import socket
import sys
import time

import transaction
import wl
from aiosmtpd.controller import Controller
from repoze.sendmail.delivery import QueuedMailDelivery
from repoze.sendmail.mailer import SMTPMailer
from repoze.sendmail.queue import QueueProcessor

logging.basicConfig(format="%(asctime)s %(message)s", level=logging.INFO, stream=sys.stderr)
logging.getLogger("mail.log").setLevel(logging.WARNING)
log = logging.getLogger("shop")
RECEIVED = []
CUSTOMERS = ("ann", "bob", "cleo", "dirk", "eva", "finn", "gina", "hugo")


class Sink:
    async def handle_DATA(self, server, session, envelope):
        RECEIVED.append(envelope.rcpt_tos[0])
        return "250 OK: queued as %d" % len(RECEIVED)


def order_mail(number: int, customer: str) -> email.message.Message:
    mail = email.message.Message()
    mail["From"], mail["To"] = "shop@example.com", "%s@example.com" % customer
    mail["Subject"], mail["Message-Id"] = "Order %d" % number, "<%d@shop.example.com>" % number
    mail["Date"] = "Wed, 18 Nov 2026 09:00:00 -0000"
    mail.set_payload("Thank you for order %d.\n" % number)
    return mail


with socket.socket() as probe:
    probe.bind(("127.0.0.1", 0))
    port = probe.getsockname()[1]
server = Controller(Sink(), hostname="127.0.0.1", port=port)
server.start()
delivery = QueuedMailDelivery("queue")
mailer = SMTPMailer(hostname="127.0.0.1", port=port, no_tls=True)
number = 0
for run, mails in enumerate((5, 4, 1, 6, 5, 4, 0, 0)):
    for _ in range(mails):
        customer = CUSTOMERS[number % len(CUSTOMERS)] if mails > 1 else "billing-acme"
        number += 1
        delivery.send("shop@example.com", ["%s@example.com" % customer], order_mail(number, customer))
        transaction.commit()
        time.sleep(0.01)
    QueueProcessor(mailer, "queue").send_messages()
    log.info("Queue run %d: %d of %d mails delivered.", run, len(RECEIVED), number)
    time.sleep(0.2)
left = sorted(name for name in os.listdir("queue/new"))
log.info("%d mails are still in the queue.", sum(not name.startswith(".") for name in left))
wl.report(received=RECEIVED, queued=number, left=left)
wl.finish()
