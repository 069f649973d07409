package console_test

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"strconv"
	"testing"

	"github.com/interlock-harness/interlock/cli"
	"github.com/interlock-harness/interlock/console"
	"github.com/interlock-harness/interlock/harness/stage"
	"github.com/interlock-harness/interlock/service"
)

// TestMain lets this test binary be the service, a console that can be killed
// (with the arguments "console PORT TOKEN FOLDER"), and interlock verify, which the
// console starts. The scenario of a hundred clicks is played by flood instead.
func TestMain(m *testing.M) {
	stage.Child(service.Main)
	if len(os.Args) > 2 && os.Args[1] == "verify" {
		if os.Args[2] == telling {
			os.Exit(tell(os.Args[len(os.Args)-1]))
		}
		if os.Args[2] == flooded {
			os.Exit(flood(os.Args[len(os.Args)-1]))
		}
		os.Exit(cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
	}
	if len(os.Args) == 5 && os.Args[1] == "console" {
		os.Exit(serve(os.Args[2], os.Args[3], os.Args[4]))
	}
	os.Exit(m.Run())
}

func serve(port, token, runs string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	n, _ := strconv.Atoi(port)
	c, err := console.Start(ctx, console.Options{Port: n, Seed: 7, Token: token, Runs: runs})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	fmt.Println(c.URL())
	<-ctx.Done()
	if err := c.Close(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}
