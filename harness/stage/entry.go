package stage

import (
	"io"
	"os"
)

// Child makes a test binary usable as the service: when its first argument is
// serve or migrate it runs main and exits, else it returns. Call it at the top
// of TestMain, before flags are parsed:
//
//	func TestMain(m *testing.M) {
//		stage.Child(service.Main)
//		os.Exit(m.Run())
//	}
func Child(main func(args []string, stdin io.Reader, stdout, stderr io.Writer) int) {
	if len(os.Args) > 1 && (os.Args[1] == "serve" || os.Args[1] == "migrate") {
		os.Exit(main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
}
