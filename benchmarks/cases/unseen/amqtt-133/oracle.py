"""amqtt #133: the broker is up and takes messages, and passes none on any more, from nobody to nobody."""
import orc


def check(state, log):
    lost = list((state.get("lost") or {"": 0}).values())
    holds = state.get("sent", 0) >= state.get("readings", 99) - 1 and min(lost) >= 3 and state.get("subscribers") == 2
    return holds, f"{state.get('sent')} readings sent, not received: {lost}"


orc.main(check)
