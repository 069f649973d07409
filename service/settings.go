package service

import (
	"errors"
	"io"
	"os"
	"strings"

	"go.yaml.in/yaml/v3"
)

// maxSettings is the largest configuration file, in bytes.
const maxSettings = 1 << 20

// setting is one line of the configuration file, as text: what it means its
// flag says, not YAML's types.
type setting struct {
	value string
	line  int
}

// readSettings reads a YAML file of one mapping from names to scalars, or lists
// of scalars. Anchors, tags, further documents and double names are refused.
func readSettings(path string) (map[string]setting, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, usage("the file of --config cannot be read: %v", errors.Unwrap(err))
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxSettings+1))
	if err != nil || len(text) > maxSettings {
		return nil, usage("the file of --config is longer than 1 MiB or cannot be read")
	}
	decoder := yaml.NewDecoder(strings.NewReader(string(text)))
	var document, more yaml.Node
	if err := decoder.Decode(&document); err == io.EOF {
		return map[string]setting{}, nil
	} else if err != nil {
		return nil, usage("%s is not YAML: %v", path, err)
	}
	if decoder.Decode(&more) != io.EOF {
		return nil, usage("%s: one document is wanted", path)
	}
	root := document.Content[0]
	if root.Kind != yaml.MappingNode {
		return nil, usage("%s:%d: names and values are wanted", path, root.Line)
	}
	settings := map[string]setting{}
	for i := 0; i < len(root.Content); i += 2 {
		name, value := root.Content[i], root.Content[i+1]
		text, ok := plain(value)
		if !ok || name.Kind != yaml.ScalarNode {
			return nil, usage("%s:%d: %s must be a plain value or a list of them", path, value.Line, name.Value)
		}
		if _, twice := settings[name.Value]; twice {
			return nil, usage("%s:%d: %s stands there twice", path, name.Line, name.Value)
		}
		settings[name.Value] = setting{value: text, line: name.Line}
	}
	return settings, nil
}

// plain returns a scalar as written, or a list of scalars joined by commas.
func plain(n *yaml.Node) (string, bool) {
	if n.Anchor != "" || n.Kind == yaml.AliasNode || n.Style&yaml.TaggedStyle != 0 {
		return "", false
	}
	if n.Kind == yaml.ScalarNode {
		return n.Value, true
	}
	if n.Kind != yaml.SequenceNode {
		return "", false
	}
	var items []string
	for _, item := range n.Content {
		text, ok := plain(item)
		if !ok || item.Kind != yaml.ScalarNode {
			return "", false
		}
		items = append(items, text)
	}
	return strings.Join(items, ","), true
}
