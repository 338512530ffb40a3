"""A mailer that keeps one SMTP client: connects for each batch of mails, sends them, says goodbye.

A mail that could not be sent is tried again in the next batch. The server is aiosmtpd, in a thread of its own.
"""
import asyncio
import json
import logging
import sys
import warnings
from email.message import EmailMessage

import aiosmtplib
import wl
from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

BATCHES, SIZE = 12, 3


class JsonLines(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line = {"ts": self.formatTime(record), "level": record.levelname.lower(), "logger": record.name}
        line["msg"] = record.getMessage()
        if record.exc_info:
            line["exc"] = self.formatException(record.exc_info)
        return json.dumps(line)


class Mailbox:
    def __init__(self) -> None:
        self.received: list[str] = []

    async def handle_DATA(self, server, session, envelope) -> str:
        self.received.append(envelope.rcpt_tos[0])
        return "250 Message accepted for delivery"


def mail_to(recipient: str) -> EmailMessage:
    message = EmailMessage()
    message["From"], message["To"], message["Subject"] = "shop@example.org", recipient, "Your order"
    message.set_content("It is on its way.")
    return message


async def mailer(client: aiosmtplib.SMTP) -> None:
    waiting: list[str] = []
    for batch in range(BATCHES + 2):  # the last two are for what was left
        if batch < BATCHES:
            waiting += [f"customer-{batch}-{n}@example.org" for n in range(SIZE)]
        log.info("batch %d: %d mails to send", batch, len(waiting))
        await asyncio.sleep(0.1)
        try:
            await client.connect()
        except (aiosmtplib.SMTPException, OSError) as error:
            log.warning("no connection to the mail server: %s", error)
            continue
        try:
            while waiting:
                await client.send_message(mail_to(waiting[0]))
                log.info("mail to %s sent", waiting.pop(0))
            await client.quit()
        except (aiosmtplib.SMTPException, OSError):
            log.warning("%d mails stay for the next batch", len(waiting), exc_info=True)
            client.close()


async def main() -> None:
    mailbox, port = Mailbox(), wl.free_port()
    server = Controller(
        mailbox, hostname="127.0.0.1", port=port, auth_require_tls=False, auth_required=True,
        authenticator=lambda *_: AuthResult(success=True),
    )
    server.start()
    client = aiosmtplib.SMTP(
        hostname="127.0.0.1", port=port, username="shop", password="secret", start_tls=False, timeout=2
    )
    done, _ = await asyncio.wait([asyncio.create_task(mailer(client))], timeout=5)
    log.info("%d mails received, mailer %s", len(set(mailbox.received)), "done" if done else "still busy")
    wl.report(received=len(set(mailbox.received)), expected=BATCHES * SIZE, done=bool(done))
    wl.finish()


handler = logging.StreamHandler(sys.stderr)
handler.setFormatter(JsonLines())
logging.basicConfig(level=logging.INFO, handlers=[handler])
logging.getLogger("mail.log").setLevel(logging.ERROR)  # the server, which has a log of its own
warnings.simplefilter("ignore")
log = logging.getLogger("shop.mailer")
asyncio.run(main())
