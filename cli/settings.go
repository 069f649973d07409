package cli

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/BurntSushi/toml"
	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/interlock-harness/interlock/service"
)

// settingsFile is the file of settings in the folder of a project.
const settingsFile = "interlock.toml"

// settle gives the flags that the command line leaves open the values of the
// environment (INTERLOCK_ and the flag's name), else those of the project's
// interlock.toml, else those of the user's. A table of the file is named like the
// command, such as [verify] or [prompt.render]; keys are named like flags, those
// above all tables are for flags that every command has.
//
// note is told what a person should know of that and need not act upon.
func settle(cmd *cobra.Command, note func(format string, args ...any)) error {
	if cmd.Name() == "help" || cmd.Name() == "completion" || cmd.HasParent() && cmd.Parent().Name() == "completion" || strings.HasPrefix(cmd.Name(), "__") {
		return nil
	}
	open := func(f *pflag.Flag) bool { return !f.Changed && !f.Hidden && f.Name != "help" && f.Name != "config" }
	var failed error
	set := func(f *pflag.Flag, value, from string) {
		if err := f.Value.Set(value); err != nil {
			failed = errors.Join(failed, usagef("%s: --%s cannot be %q", from, f.Name, value))
			return
		}
		f.Changed = true
	}
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		name := variable(f.Name)
		value := os.Getenv(name)
		switch {
		case value == "" || f.Hidden:
		case open(f):
			set(f, value, name)
		case f.Value.String() != value:
			note("--%s wins over %s", f.Name, name)
		}
	})
	for _, name := range strayVariables(cmd.Root()) {
		note("%s is no setting of interlock.%s", printable(name), didYouMean(name, variables(cmd.Root())))
	}
	files, err := settingsFiles(cmd)
	if err != nil || failed != nil {
		return errors.Join(failed, err)
	}
	for _, file := range files {
		values, err := readSettings(cmd, file)
		if err != nil {
			return err
		}
		cmd.Flags().VisitAll(func(f *pflag.Flag) {
			value, ok := values[f.Name]
			if ok && open(f) {
				set(f, value, file)
			}
		})
		if failed != nil {
			return failed
		}
	}
	return nil
}

func variable(flag string) string {
	return "INTERLOCK_" + strings.ToUpper(strings.ReplaceAll(flag, "-", "_"))
}

// variables are all that stand for a flag of some command, or are read by
// themselves.
func variables(root *cobra.Command) []string {
	names := append(service.Variables(), "INTERLOCK_TARGET_PG_URL", "INTERLOCK_PROMPT_CACHE")
	if demos, err := (&deployed{}).profiles(); err == nil {
		for _, p := range demos {
			names = append(names, p.Auth.Env) // where the key of a built-in provider is looked for
		}
	}
	var add func(*cobra.Command)
	add = func(c *cobra.Command) {
		each := func(f *pflag.Flag) {
			if !f.Hidden {
				names = append(names, variable(f.Name))
			}
		}
		c.Flags().VisitAll(each)
		c.PersistentFlags().VisitAll(each)
		for _, below := range c.Commands() {
			add(below)
		}
	}
	add(root)
	slices.Sort(names)
	return slices.Compact(names)
}

// strayVariables are set and have no effect on any command.
func strayVariables(root *cobra.Command) []string {
	var stray, known []string
	for _, pair := range os.Environ() {
		name, _, _ := strings.Cut(pair, "=")
		if !strings.HasPrefix(name, "INTERLOCK_") {
			continue
		}
		if known == nil {
			known = variables(root)
		}
		if !slices.Contains(known, name) {
			stray = append(stray, name)
		}
	}
	slices.Sort(stray)
	return stray
}

// settingsFiles are the files to read, the one that counts most first.
func settingsFiles(cmd *cobra.Command) ([]string, error) {
	if f := cmd.Flags().Lookup("config"); f != nil && f.Changed {
		if _, err := os.Stat(f.Value.String()); err != nil {
			return nil, usagef("there is no file of settings %s", f.Value)
		}
		return []string{f.Value.String()}, nil
	}
	candidates := []string{settingsFile}
	if dir, err := os.UserConfigDir(); err == nil {
		candidates = append(candidates, filepath.Join(dir, "interlock", settingsFile))
	}
	return slices.DeleteFunc(candidates, func(file string) bool {
		_, err := os.Stat(file)
		return errors.Is(err, fs.ErrNotExist) || errors.Is(err, fs.ErrPermission)
	}), nil
}

// readSettings returns the values of file for the flags of cmd, by flag. A table
// or key that no command has is a mistake, wherever it stands.
func readSettings(cmd *cobra.Command, file string) (map[string]string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, usagef("%s cannot be read", file)
	}
	var doc map[string]any
	if _, err := toml.Decode(string(text), &doc); err != nil {
		if at, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, usagef("%s:%d is not TOML: %s", file, at.Position.Line, at.Message)
		}
		return nil, usagef("%s is not TOML: %v", file, err)
	}
	values := map[string]string{}
	err = walkSettings(cmd, cmd.Root(), doc, file, values)
	return values, err
}

// walkSettings takes the table of command at, and of those below it.
func walkSettings(cmd, at *cobra.Command, table map[string]any, file string, values map[string]string) error {
	for name, value := range table {
		if below, isTable := value.(map[string]any); isTable {
			i := slices.IndexFunc(at.Commands(), func(c *cobra.Command) bool { return c.Name() == name })
			if i < 0 {
				return usagef("%s: [%s] is no command.%s", file, name, didYouMean(name, commandNames(at)))
			}
			if err := walkSettings(cmd, at.Commands()[i], below, file, values); err != nil {
				return err
			}
			continue
		}
		flags := at.Flags()
		if !at.HasParent() {
			flags = at.PersistentFlags()
		}
		if f := flags.Lookup(name); f == nil || f.Hidden || name == "config" {
			return usagef("%s: %s has no flag %q.%s", file, at.CommandPath(), name, didYouMean(name, flagNames(at)))
		}
		if at != cmd && at.HasParent() {
			continue
		}
		text, err := settingText(value)
		if err != nil {
			return usagef("%s: %s %v", file, name, err)
		}
		if _, nearer := values[name]; !nearer || at == cmd {
			values[name] = text
		}
	}
	return nil
}

// settingText is a value as it would stand on the command line.
func settingText(value any) (string, error) {
	switch v := value.(type) {
	case []any:
		parts := make([]string, len(v))
		for i, one := range v {
			text, ok := one.(string)
			if !ok || strings.ContainsRune(text, ',') {
				return "", errors.New("must be a list of texts without commas")
			}
			parts[i] = text
		}
		return strings.Join(parts, ","), nil
	case string, bool, int64, float64:
		return fmt.Sprint(v), nil
	}
	return "", errors.New("must be a text, a number, true, false or a list of texts")
}
