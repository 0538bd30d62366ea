package stripesim_test

import (
	"fmt"
	"net"
	"net/http"
)

// listenAndTell serves on a free port and prints the origin on standard output.
func listenAndTell(h http.Handler) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	fmt.Printf("http://%s\n", l.Addr())
	panic(http.Serve(l, h))
}
