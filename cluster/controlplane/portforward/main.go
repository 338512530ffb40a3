// Command portforward is the part of a kubelet that the API server calls by itself: port-forwards into pods and their logs.
// A pod is the network namespace NAMESPACE_POD; connections are dialled inside it, to its own 127.0.0.1, as a real kubelet does.
package main

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"k8s.io/cri-streaming/pkg/streaming/portforward"
)

const (
	idle     = 4 * time.Hour    // until a forward that nobody uses is closed: the kubelet's default
	creation = 30 * time.Second // until a client has to open its streams: the kubelet's default
	poll     = 100 * time.Millisecond
)

var (
	listen     = flag.String("listen", ":10250", "address of the HTTPS server")
	namespaces = flag.String("namespaces", "/run/netns", "folder of the network namespaces, named NAMESPACE_POD")
	logs       = flag.String("logs", "", "folder of the logs, named NAMESPACE_POD_CONTAINER.log")
)

func main() {
	flag.Parse()
	http.HandleFunc("/portForward/{namespace}/{pod}", forward)
	http.HandleFunc("/portForward/{namespace}/{pod}/{uid}", forward)
	http.HandleFunc("GET /containerLogs/{namespace}/{pod}/{container}", showLog)
	http.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	server := http.Server{Addr: *listen, TLSConfig: &tls.Config{Certificates: []tls.Certificate{selfSigned()}},
		TLSNextProto: map[string]func(*http.Server, *tls.Conn, http.Handler){}} // HTTP/1.1 only: forwards are upgrades
	log.Fatal(server.ListenAndServeTLS("", ""))
}

// selfSigned makes a certificate for this run; the API server does not check it unless it is told an authority.
func selfSigned() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		log.Fatal(err)
	}
	template := x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(24 * time.Hour)}
	der, err := x509.CreateCertificate(rand.Reader, &template, &template, &key.PublicKey, key)
	if err != nil {
		log.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func podOf(r *http.Request) string {
	return filepath.Join(*namespaces, r.PathValue("namespace")+"_"+r.PathValue("pod"))
}

func forward(w http.ResponseWriter, r *http.Request) {
	pod := podOf(r)
	if _, err := os.Stat(pod); err != nil {
		http.Error(w, "pod does not exist", http.StatusNotFound)
		return
	}
	options, err := portforward.NewV4Options(r)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	portforward.ServePortForward(w, r, forwarder{}, pod, r.PathValue("uid"), options, idle, creation, portforward.SupportedProtocols)
}

type forwarder struct{}

// PortForward copies both ways until both sides have ended; the client's end is passed on as a half-close.
func (forwarder) PortForward(ctx context.Context, pod string, _ string, port int32, stream io.ReadWriteCloser) error {
	defer stream.Close()
	connection, err := dial(ctx, pod, port)
	if err != nil {
		return err
	}
	defer connection.Close()
	go func() {
		io.Copy(connection, stream)
		connection.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(stream, connection)
	return err
}

// dial connects from inside the pod. The thread is never unlocked: it ends with its goroutine, so that no other runs in the pod.
func dial(ctx context.Context, pod string, port int32) (connection net.Conn, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread()
		var place *os.File
		if place, err = os.Open(pod); err != nil {
			return
		}
		defer place.Close()
		if err = unix.Setns(int(place.Fd()), unix.CLONE_NEWNET); err != nil {
			return
		}
		connection, err = (&net.Dialer{}).DialContext(ctx, "tcp4", fmt.Sprintf("127.0.0.1:%d", port))
	}()
	<-done
	return connection, err
}

// showLog answers `kubectl logs`, with --tail and --follow: until the pod's network has gone.
func showLog(w http.ResponseWriter, r *http.Request) {
	name := r.PathValue("namespace") + "_" + r.PathValue("pod") + "_" + r.PathValue("container") + ".log"
	file, err := os.Open(filepath.Join(*logs, name))
	if err != nil {
		http.Error(w, "no log of that container", http.StatusNotFound)
		return
	}
	defer file.Close()
	w.Header().Set("Content-Type", "text/plain")
	if tail, err := strconv.Atoi(r.FormValue("tailLines")); err == nil {
		text, _ := io.ReadAll(file)
		lines := strings.SplitAfter(string(text), "\n") // the last one is empty, or not yet whole
		io.WriteString(w, strings.Join(lines[max(0, len(lines)-1-tail):], ""))
	}
	for last := false; !last; {
		_, err := os.Stat(podOf(r))
		last = r.FormValue("follow") != "true" || err != nil || r.Context().Err() != nil
		io.Copy(w, file)
		w.(http.Flusher).Flush()
		if !last {
			time.Sleep(poll)
		}
	}
}
