"""aiosmtplib #243: connect() hangs, and no mail is sent any more."""
import orc


def check(state, log):
    lost = state.get("expected", 0) - state.get("received", 0)
    return not state.get("done", True) and lost >= 6, f"{lost} mails not sent, mailer done: {state.get('done')}"


orc.main(check)
