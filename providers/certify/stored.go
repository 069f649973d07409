package certify

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/contract"
	"github.com/interlock-harness/interlock/providers/judge"
	"github.com/interlock-harness/interlock/providers/wire"
)

// stored is one line of transcripts.jsonl: all that a check looked at.
type stored struct {
	N         int                 `json:"n"`
	Probe     check.Probe         `json:"probe"`
	Case      string              `json:"case"`
	Asked     string              `json:"asked"` // id of the case that was asked
	Repeat    int                 `json:"repeat"`
	Relation  string              `json:"relation,omitempty"`
	Work      check.Work          `json:"work,omitempty"`
	Replayed  bool                `json:"stand_in"`
	Served    int                 `json:"served,omitempty"`
	Digest    string              `json:"sha256"`
	Request   providers.Request   `json:"request"`
	Reach     providers.Reach     `json:"reach"`
	Status    int                 `json:"status"`
	Header    http.Header         `json:"header"`
	Body      []byte              `json:"body"` // base64: it need not be text
	End       providers.End       `json:"end"`
	Limit     string              `json:"limit,omitempty"`
	Leaked    bool                `json:"leaked,omitempty"`
	Chunks    [][3]int64          `json:"chunks"` // offset, length, microseconds since the start
	Judgement providers.Judgement `json:"judgement"`
	Problem   string              `json:"problem,omitempty"`
	Protocol  providers.Protocol  `json:"protocol"`
}

// Transcripts renders observations as JSON lines, in their order.
func Transcripts(list []*check.Observation) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for i, o := range list {
		t := o.Transcript
		line := stored{
			N: i + 1, Probe: o.Probe, Case: o.Case, Asked: o.Asked, Repeat: o.Repeat, Relation: o.Relation, Work: o.Work,
			Replayed: o.Replayed, Served: o.Served, Digest: o.Digest, Request: t.Request, Reach: t.Reach, Status: t.Status, Header: t.Header,
			Body: t.Body, End: t.End, Limit: t.Limit, Leaked: t.Leaked, Judgement: o.Judgement, Protocol: t.Protocol,
		}
		line.Request.Schema = nil // that of the contract, the same in each line
		if t.Err != nil {
			line.Problem = t.Err.Error()
		}
		for _, c := range t.Chunks {
			line.Chunks = append(line.Chunks, [3]int64{int64(c.Offset), int64(c.Length), c.At.Microseconds()})
		}
		if err := e.Encode(line); err != nil {
			return nil, err
		}
	}
	return b.Bytes(), nil
}

// observations reads lines that Transcripts wrote and judges each answer anew.
func observations(lines []byte, c *contract.Contract, p providers.Profile) ([]*check.Observation, error) {
	var list []*check.Observation
	d := json.NewDecoder(bytes.NewReader(lines))
	d.DisallowUnknownFields()
	for d.More() {
		var s stored
		if err := d.Decode(&s); err != nil {
			return nil, fmt.Errorf("line %d: %w", len(list)+1, err)
		}
		if s.N != len(list)+1 {
			return nil, fmt.Errorf("line %d says that it is number %d", len(list)+1, s.N)
		}
		o, err := s.observation(c, p)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.N, err)
		}
		list = append(list, o)
	}
	return list, nil
}

func (s stored) observation(c *contract.Contract, p providers.Profile) (*check.Observation, error) {
	asked := c.Case(s.Asked)
	if asked == nil {
		return nil, fmt.Errorf("the contract has no case %.80q", s.Asked)
	}
	if m := c.Relation(s.Relation); m != nil {
		input, ok := m.Input(asked.Input)
		if !ok {
			return nil, fmt.Errorf("relation %s does not apply to case %s", m.ID, asked.ID)
		}
		other := *asked
		other.Input = input
		asked = &other
	}
	if s.Request.Schema = c.Output.JSON(); s.Probe == check.Irrelevant {
		s.Request.Schema = json.RawMessage(tides.schema)
	}
	t := providers.Transcript{
		Protocol: s.Protocol, Request: s.Request, Reach: s.Reach, Status: s.Status, Header: s.Header, Body: s.Body, End: s.End,
		Limit: s.Limit, Leaked: s.Leaked, Served: p.Served, Refused: p.RefusedStatuses,
	}
	if s.Problem != "" {
		t.Err = errors.New(s.Problem)
	}
	for _, k := range s.Chunks {
		t.Chunks = append(t.Chunks, providers.Chunk{Offset: int(k[0]), Length: int(k[1]), At: time.Duration(k[2]) * time.Microsecond})
	}
	o := &check.Observation{
		Probe: s.Probe, Case: s.Case, Asked: s.Asked, Repeat: s.Repeat, Profile: p.Name, Transcript: t, Relation: s.Relation, Work: s.Work,
		Replayed: s.Replayed, Served: s.Served, Digest: digest(t), Judgement: judge.Judge(c, asked, t),
	}
	if t.Status >= 200 && t.Status < 300 {
		o.Response = wire.Decode(t)
	}
	if o.Digest != s.Digest {
		return o, fmt.Errorf("the transcript of case %s was changed: its digest is another one", s.Case)
	}
	return o, nil
}
