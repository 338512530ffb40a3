//go:build tools

// Package tools names what the laboratory's control plane is made of, so that `go mod tidy` keeps their versions in go.mod.
package tools

import (
	_ "go.etcd.io/etcd/server/v3"
	_ "istio.io/istio/pilot/cmd/pilot-agent"
	_ "istio.io/istio/pilot/cmd/pilot-discovery"
	_ "k8s.io/kubernetes/cmd/kube-apiserver"
	_ "k8s.io/kubernetes/cmd/kube-controller-manager"
)
