package report_test

import (
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/interlock-harness/interlock/harness/history"
	"github.com/interlock-harness/interlock/harness/report"
)

// TestThePictureOfTheReadmeIsCurrent draws docs/reverse-order.svg from a history
// that a run of the scenario recorded, as the report draws its lanes. Renew it with
//
//	go test ./harness/report -run PictureOfTheReadme -args -update
func TestThePictureOfTheReadmeIsCurrent(t *testing.T) {
	events, err := history.ReadFile(filepath.Join("testdata", "reverse-order.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	got := svg(report.DrawStored(events))
	tokens := xml.NewDecoder(strings.NewReader(got))
	for _, err := tokens.Token(); !errors.Is(err, io.EOF); _, err = tokens.Token() {
		if err != nil {
			t.Fatalf("it is no XML: %v", err)
		}
	}
	for _, want := range []string{"a1 unknown", "a1 released", "a2 succeeded", "a1 lost", "release 200"} {
		if !strings.Contains(got, want) {
			t.Errorf("the picture lacks %q", want)
		}
	}
	file := filepath.Join("..", "..", "docs", "reverse-order.svg")
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if stored, err := os.ReadFile(file); err != nil || string(stored) != got {
		t.Errorf("%s is not what its history gives (%v): go test ./harness/report -run PictureOfTheReadme -args -update", file, err)
	}
}

// looks are how the picture shows what the report knows by numbers: fill and
// stroke. What has none is left out.
var looks = map[report.Look][2]string{
	report.OpOK: {"#2a72bd", "none"}, report.OpFail: {"#a80f2b", "none"}, report.OpUnknown: {"#f3c66a", "#a86b00"},
	report.Starting: {"#eef2f7", "#5a7693"}, report.Running: {"#3b8f5f", "none"}, report.UnknownState: {"#f3c66a", "#a86b00"}, report.Released: {"#d3c3f2", "#7a56b8"},
	report.Succeeded: {"#0f6a35", "none"}, report.Lost: {"#a80f2b", "none"}, report.Call: {"#7d93ad", "none"}, report.Write: {"#0f6a35", "none"},
	report.FaultFired: {"#e2682a", "none"},
}

// svg draws what happened until the last move, on a ground of its own, so that it
// is the same on a light page and a dark one.
func svg(p report.Picture) string {
	const left, width, right, height = 112.0, 640.0, 216.0, 20.0
	var items []report.Item
	last := int64(1)
	for _, i := range p.Items {
		if _, known := looks[i.Look]; !known || i.Look <= report.OpUnknown && (strings.HasPrefix(i.Label, "get") || strings.HasPrefix(i.Label, "list") || strings.HasPrefix(i.Label, "attempts") || strings.HasPrefix(i.Label, "events") || strings.HasPrefix(i.Label, "races")) {
			continue
		}
		items = append(items, i)
		if i.Look >= report.Starting && i.Look <= report.Cancelled {
			last = max(last, i.From)
		}
	}
	top := map[string]float64{}
	y := 12.0
	var b strings.Builder
	for _, lane := range p.Lanes {
		rows := 0
		for _, i := range items {
			if i.Lane == lane {
				rows = max(rows, i.Row+1)
			}
		}
		if rows == 0 {
			continue
		}
		top[lane] = y
		fmt.Fprintf(&b, "<text x=\"12\" y=\"%.0f\" font-weight=\"600\" fill=\"#515d6c\">%s</text>\n", y+14, html.EscapeString(report.Untrusted(lane).XML()))
		y += float64(rows)*height + 8
		fmt.Fprintf(&b, "<path d=\"M12 %.0fH%.0f\" stroke=\"#e3e8ee\"/>\n", y-5, left+width+right-12)
	}
	at := func(us int64) float64 { return left + float64(min(us, last))/float64(last)*width }
	for _, i := range items {
		if i.From > last {
			continue
		}
		x, top, w := at(i.From), top[i.Lane]+float64(i.Row)*height, max(at(i.To)-at(i.From), 3)
		label, place, fill, weight := i.Label, x+w+4, "#17212d", "400"
		if i.Look >= report.Succeeded && i.Look <= report.Lost {
			label, _, _ = strings.Cut(label, ", sha")
			fill, weight = looks[i.Look][0], "600"
		}
		if needs := float64(len(label)) * 6.2; needs+6 < w {
			place = x + 5
			if i.Look == report.OpOK || i.Look == report.Running {
				fill = "#fff"
			}
		} else if i.Look >= report.Starting && i.Look <= report.Released && w < 60 {
			label, place = "", x+w/2-3 // the next state would stand on it
			if i.Look == report.UnknownState {
				label = "?"
			}
		}
		dash := ""
		if i.Look == report.UnknownState || i.Look == report.Released || i.Look == report.Starting {
			dash = " stroke-dasharray=\"4 3\""
		}
		fmt.Fprintf(&b, "<rect x=\"%.1f\" y=\"%.0f\" width=\"%.1f\" height=\"16\" rx=\"3\" fill=\"%s\" stroke=\"%s\"%s><title>%s</title></rect>\n", x, top, w, looks[i.Look][0], looks[i.Look][1], dash, html.EscapeString(report.Untrusted(i.Label).XML()))
		if label != "" {
			fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.0f\" fill=\"%s\" font-weight=\"%s\">%s</text>\n", place, top+12, fill, weight, html.EscapeString(report.Untrusted(label).XML()))
		}
	}
	for n := range 5 {
		us := last * int64(n) / 4
		fmt.Fprintf(&b, "<text x=\"%.1f\" y=\"%.0f\" fill=\"#515d6c\">%d ms</text>\n", at(us), y+10, us/1000)
	}
	return fmt.Sprintf("<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %.0f %.0f\" font-family=\"system-ui,sans-serif\" font-size=\"11.5\" role=\"img\" aria-label=\"Lanes of a reverse-order race\">\n<rect width=\"100%%\" height=\"100%%\" rx=\"10\" fill=\"#fff\" stroke=\"#d6dde6\"/>\n%s</svg>\n", left+width+right, y+22, b.String())
}
