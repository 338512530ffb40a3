//go:build tools

// Package tools names Jaeger's own program. go.mod and go.sum are Jaeger's: the checksum database lacks some of what it requires.
package tools

import _ "github.com/jaegertracing/jaeger/cmd/jaeger"
