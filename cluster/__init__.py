"""The laboratory: a real Kubernetes and Istio control plane on one machine; pods are network namespaces."""
