from cutset.harden.remedies.remedy import Remedy
from cutset.model.advice import Declined


def test_a_remedy_explains_itself_in_four_parts() -> None:
    remedy = Remedy(
        "nap",
        what="Sleeps on it.",
        when="it is late.",
        example="services:\n  cart:\n    nap: true",
        risks=("One may oversleep.", "Others may not."),
        advise=lambda _: Declined("nap", "it is early"),
    )

    assert remedy.explanation == (
        "Sleeps on it.\n\nAdvised when: it is late.\n\nExample:\n\nservices:\n  cart:\n    nap: true\n\n"
        "Risks:\n- One may oversleep.\n- Others may not."
    )
