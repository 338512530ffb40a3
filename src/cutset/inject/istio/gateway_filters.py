"""The EnvoyFilter of an ingress gateway: no plan from outside comes in but those of this environment's own key.

Gateways of Istio and of the Gateway API are both found by the labels of their pods. Several environments may share one.
"""

from cutset.inject.gateway import gateway_filters, gateway_options
from cutset.inject.istio.envoy_filter import GATEWAY, before_router, envoy_filter, merged_manager
from cutset.inject.istio.marks import Installation, marked
from cutset.model.cluster import ClusterGateway, Resource
from cutset.model.mesh import Json

# A gateway without a tracer still marks 1 % of all request ids as traced, by Istio's default, and sidecars obey that
# mark whatever their own sampling says. Percent is rounded to hundredths; a merge would not take 0 for a value.
_MARK_NOBODY: Json = {"tracing": {"random_sampling": {"value": 1e-9}}}


def gateway_filter(wanted: Installation, gateway: ClusterGateway, *, has_tracer: bool = False) -> Resource:
    """Who has a tracer in the gateway keeps its sampling."""
    options = gateway_options(wanted.environment) | ({} if has_tracer else _MARK_NOBODY)
    patches = [
        *before_router(GATEWAY, gateway_filters(wanted.environment, wanted.public_key, strip_all=wanted.strip_all)),
        *merged_manager(GATEWAY, options),
    ]
    found = envoy_filter(f"{wanted.name}-gateway-{gateway.name}", gateway.namespace, patches, dict(gateway.selector))
    return marked(found, wanted.environment)
