"""Any effect, for properties."""

from hypothesis import strategies as st

from cutset.model.effect import Effect, EffectKind

_PLAIN = sorted(set(EffectKind) - {EffectKind.ABORT, EffectKind.GRPC, EffectKind.DELAY, EffectKind.LIBRARY})
_OPTIONS = {"attempts": st.integers(0, 99), "call": st.integers(0, 99)}
EFFECTS = (
    st.builds(Effect, st.just(EffectKind.ABORT), st.integers(200, 599), body=st.text(max_size=60), **_OPTIONS)
    | st.builds(Effect, st.just(EffectKind.GRPC), st.integers(1, 16), **_OPTIONS)
    | st.builds(Effect, st.just(EffectKind.DELAY), st.integers(1, 3_600_000), **_OPTIONS)
    | st.builds(Effect, st.sampled_from(_PLAIN), **_OPTIONS)
    | st.builds(Effect, st.just(EffectKind.LIBRARY), name=st.sampled_from(["cache-miss", "pool-exhausted"]), **_OPTIONS)
)
