"""Eight orders."""

from outbox_own_logger import Outbox, log

outbox = Outbox()
for number in range(8):
    outbox.keep(number)
log.info("all is kept" if outbox.kept == 8 else "orders are lost")
