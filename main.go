// Command interlock proves that one click makes one result, whatever breaks on
// the way, and that a fallback AI provider is safe before anything may fail
// over to it.
package main

import (
	"os"

	"github.com/interlock-harness/interlock/cli"
)

func main() {
	os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
