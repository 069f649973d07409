package judge_test

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/strictjson"
)

// FuzzJudge: whatever a provider sends, the verdict is one of four, it is the same
// twice, and what is accepted is one JSON value that meets the contract.
func FuzzJudge(f *testing.F) {
	for i, p := range everywhere {
		f.Add(uint8(i), false, false, uint16(200), []byte(whole(p, ticket, normal[p])))
		f.Add(uint8(i), true, false, uint16(200), []byte(calling(p, normal[p], [2]string{"file_ticket", ticket})))
		if streams(p) {
			list, _ := events(p, normal[p], ticket[:30], ticket[30:])
			f.Add(uint8(i), false, true, uint16(200), []byte(strings.Join(list, "")))
			list, _ = callEvents(p, normal[p], "file_ticket", ticket[:30], ticket[30:])
			f.Add(uint8(i), true, true, uint16(200), []byte(strings.Join(list, "")))
		}
	}
	for _, body := range errorShapes {
		f.Add(uint8(0), false, false, uint16(503), []byte(body))
	}
	c := tickets(f)
	f.Fuzz(func(t *testing.T, which uint8, tool, stream bool, status uint16, body []byte) {
		a := answer{protocol: everywhere[int(which)%len(everywhere)], stream: stream, status: int(status) % 700, body: string(body), max: 100}
		if tool {
			a.mode = providers.ModeTool
		}
		before := bytes.Clone(body)
		transcript := a.transcript()
		j := judgeTranscript(c, transcript)
		if again := judgeTranscript(c, transcript); !reflect.DeepEqual(j, again) {
			t.Fatalf("%+v and then %+v", j, again)
		}
		if !bytes.Equal(before, transcript.Body) {
			t.Fatal("the transcript was changed")
		}
		switch j.Verdict {
		case providers.Accept:
			value, err := strictjson.Decode(j.Output, strictjson.Limits{MaxBytes: -1, AllowNUL: true, MaxKeys: -1})
			if err != nil {
				t.Fatalf("accepted %q: %v", j.Output, err)
			}
			if fault, broken := c.Verify(c.Cases[0].Input, value, c.Cases[0].Reference); fault != nil || broken != nil {
				t.Fatalf("accepted %q: %v %v", j.Output, fault, broken)
			}
		case providers.Reject, providers.DefiniteFailure, providers.Unknown:
			if !strings.Contains(j.Reason, ".") || j.Detail == "" || len(j.Detail) > 2000 {
				t.Fatalf("%+v", j)
			}
		default:
			t.Fatalf("verdict %q", j.Verdict)
		}
	})
}
