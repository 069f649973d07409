//go:build !unix

package certificate

import "os"

func openNow(path string) (*os.File, error) { return os.Open(path) }
