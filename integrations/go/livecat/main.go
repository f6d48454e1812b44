// SPDX-License-Identifier: MPL-2.0

// Livecat URL writes what comes to standard output.
package main

import (
	"fmt"
	"io"
	"os"

	"perigee.invalid/live"
)

func run(url string) error {
	stream, err := live.Receive(url)
	if err != nil {
		return err
	}
	defer stream.Close()
	_, err = io.Copy(os.Stdout, stream)
	return err
}

func main() {
	url := ""
	if len(os.Args) > 1 {
		url = os.Args[1]
	}
	if err := run(url); err != nil {
		fmt.Fprintf(os.Stderr, "livecat: %v\n", err)
		os.Exit(1)
	}
}
