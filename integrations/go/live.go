// SPDX-License-Identifier: MPL-2.0

// Package live sends and receives live transport streams over TLTCP.
package live

// #cgo pkg-config: tltcp-live
// #include <stdlib.h>
// #include <tltcp/live.h>
import "C"

import (
	"errors"
	"io"
	"unsafe"
)

const linger = 5000 // how long the end waits for what was written, in ms

// Stream is a sender or a receiver; one goroutine at a time may use it.
type Stream struct {
	live  *C.tltcp_live
	sends bool
}

// Receive opens a receiver; a URL without a host waits for a caller.
func Receive(url string) (*Stream, error) {
	return open(url, C.TLTCP_LIVE_RECEIVE)
}

// Send opens a sender; what is written while nobody is connected is let go.
func Send(url string) (*Stream, error) {
	return open(url, C.TLTCP_LIVE_SEND)
}

func open(url string, direction C.int) (*Stream, error) {
	text := C.CString(url)
	defer C.free(unsafe.Pointer(text))
	why := (*C.char)(C.calloc(1, C.TLTCP_LIVE_WHY_MAX))
	options := C.tltcp_live_options_new()
	if why == nil || options == nil {
		return nil, errors.New("out of memory")
	}
	defer C.free(unsafe.Pointer(why))
	s := &Stream{sends: direction == C.TLTCP_LIVE_SEND}
	if C.tltcp_live_options_set_url(options, text, why) < 0 ||
		C.tltcp_live_open(&s.live, direction, options, why) < 0 {
		C.tltcp_live_options_free(options)
		return nil, errors.New(C.GoString(why))
	}
	return s, nil
}

func fault(code C.int) error {
	return errors.New(C.GoString(C.tltcp_strerror(code)))
}

// Read fills a buffer with what came, and waits for it.
func (s *Stream) Read(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	n := C.tltcp_live_read_ts(s.live, unsafe.Pointer(&data[0]),
		C.size_t(len(data)), -1)
	if n == 0 || n == C.TLTCP_ERR_CLOSED {
		return 0, io.EOF
	}
	if n < 0 {
		return 0, fault(C.int(n))
	}
	return int(n), nil
}

// Write sends bytes at the pace of the stream; what is late is dropped.
func (s *Stream) Write(data []byte) (int, error) {
	if len(data) == 0 {
		return 0, nil
	}
	code := C.tltcp_live_write_ts(s.live, unsafe.Pointer(&data[0]),
		C.size_t(len(data)), -1)
	if code < 0 && code != C.TLTCP_ERR_AGAIN {
		return 0, fault(code)
	}
	return len(data), nil
}

// Close waits up to five seconds for what was written.
func (s *Stream) Close() error {
	if s.sends {
		C.tltcp_live_finish(s.live, linger)
	}
	C.tltcp_live_close(s.live, linger)
	s.live = nil
	return nil
}
