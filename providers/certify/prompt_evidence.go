package certify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"

	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/prompt/render"
)

// Files of a bundle about prompts: what the section prompt of the profile names, and
// what the server that shows its prompts was asked and answered.
const (
	templateFile    = "prompt/template"
	tokenizerFolder = "prompt/tokenizer"
	answersFile     = "prompt/answers.jsonl"
)

// promptFiles adds the evidence of the checks on prompts to a bundle.
func (r *Report) promptFiles(files map[string][]byte) error {
	s := r.options.Prompt
	if s == nil {
		return nil
	}
	if s.Files == nil {
		return fmt.Errorf("the files of the section prompt of %s are not at hand", r.Profile)
	}
	files[templateFile] = s.Files[s.Profile.Template]
	files[path.Join(tokenizerFolder, path.Base(s.Profile.Tokenizer.File))] = s.Files[s.Profile.Tokenizer.File]
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	for _, a := range r.shown {
		if err := e.Encode(a); err != nil {
			return err
		}
	}
	files[answersFile] = b.Bytes()
	return nil
}

// promptAgain examines the prompts anew, from the files and answers of a bundle.
func (a *Rechecked) promptAgain(files map[string][]byte, b bundle, r *Report, p Plan) (*check.Prompt, error) {
	if b.Profile.Prompt == nil {
		return nil, nil
	}
	var err error
	r.options = r.options.on(b.Prompts)
	o := &r.options
	o.Prompt, err = render.Open(*b.Profile.Prompt, func(name string) ([]byte, error) {
		kept := templateFile
		if name != b.Profile.Prompt.Template {
			kept = path.Join(tokenizerFolder, path.Base(name))
		}
		if data, ok := files[kept]; ok {
			return data, nil
		}
		return nil, fmt.Errorf("%s is missing", kept)
	})
	if err != nil {
		return nil, err
	}
	planned, err := o.promptPlan()
	if err != nil {
		return nil, err
	}
	if !planned.equal(p.Prompt) {
		a.problem("%s lists other questions about prompts than the contract and the profile give", planFile)
	}
	if r.shown, err = shownAnswers(files[answersFile]); err != nil {
		return nil, fmt.Errorf("%s: %w", answersFile, err)
	}
	play := newPlaying(r.shown)
	found, _, err := o.examinePrompt(context.Background(), play)
	if problem := play.problem(); err == nil && problem != "" {
		a.problem("%s: %s", answersFile, problem)
	}
	return found, err
}

func (p *PromptPlan) equal(q *PromptPlan) bool {
	if p == nil || q == nil {
		return p == q
	}
	return p.Template == q.Template && p.Tokenizer == q.Tokenizer && p.Oracle == q.Oracle &&
		slices.Equal(p.Requirements, q.Requirements) && slices.Equal(p.Compared, q.Compared) && slices.Equal(p.Counted, q.Counted)
}
