package cli

import (
	"flag"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/interlock-harness/interlock/harness/bench"
	"github.com/interlock-harness/interlock/harness/invariant"
	"github.com/interlock-harness/interlock/harness/mutant"
	"github.com/interlock-harness/interlock/harness/plan"
	"github.com/interlock-harness/interlock/providers"
	"github.com/interlock-harness/interlock/providers/certify"
	"github.com/interlock-harness/interlock/providers/check"
	"github.com/interlock-harness/interlock/providers/fixtures"
	"github.com/interlock-harness/interlock/providers/profile"
	"github.com/interlock-harness/interlock/scenarios"
	"github.com/interlock-harness/interlock/service"
)

// offer is what a shell offers for a word that is half typed: names, each with a
// tabulator and a word about it, and whether files fit too.
type offer = cobra.CompletionFunc

// argumentOffers are those of the arguments, by command. A command that is missing
// here is offered nothing.
var argumentOffers = map[string]offer{
	"verify":         each(scenarioNames),
	"mutants":        each(mutantNames),
	"explain":        once(explainNames),
	"certify":        once(routeNames),
	"record":         once(routeNames),
	"replay":         plansOrScenarios,
	"prompt check":   profilesOrFiles,
	"prompt show":    profilesOrFiles,
	"prompt render":  profilesOrFiles,
	"serve":          serviceFlags("serve"),
	"migrate":        serviceFlags("migrate"),
	"judge":          files,
	"report":         files,
	"report merge":   folders,
	"contract lint":  folders,
	"lock":           folders,
	"man":            folders,
	"key new":        files,
	"key show":       files,
	"stand provider": once(providerNames),
}

// flagOffers are those of the values of flags, which mean the same wherever they
// are. A flag that is missing here takes a number, an address or a text, and is
// offered nothing.
var flagOffers = map[string]offer{
	"contract": names(contractNames), "from": names(providerNames), "to": names(providerNames), "primary": names(providerNames),
	"case": names(caseNames), "check": names(checkNames), "bad": names(badNames), "protocol": names(wireNames),
	"scenario": names(scenarioNames), "mutant": names(mutantNames), "label": names(labelNames), "only": names(fixed(bench.Names()...)),
	"mode": names(fixed(string(providers.ModeJSONSchema), string(providers.ModeTool))), "color": names(fixed("auto", "always", "never")),
	"level": names(fixed("L0", "L1", "L2", "L3")), "mismatch-status": names(fixed("409", "422")), "provider": address,

	"out": folders, "profiles": folders, "contracts": folders, "recordings": folders, "compare": folders,
	"certs": files, "with": files, "adapter": files, "target-keys": files, "key-file": files, "vendor-key": files, "trust": files, "state": files,
	"bundle": files, "sarif": files, "html": files, "otlp": files, "perfetto": files, "template": files, "tokenizer": files, "contract-file": files,
	"river": files, "baseline": files, "budget": files, "config": ending("toml"),
}

// complete gives each command and flag below cmd its offer. Without that a shell
// offers files everywhere.
func complete(cmd *cobra.Command) {
	path := strings.TrimPrefix(strings.TrimPrefix(cmd.CommandPath(), cmd.Root().Name()), " ")
	if cmd.ValidArgsFunction = argumentOffers[path]; cmd.ValidArgsFunction == nil {
		cmd.ValidArgsFunction = cobra.NoFileCompletions
	}
	offered := func(f *pflag.Flag) {
		o, ok := flagOffers[f.Name]
		if !ok || f.Value.Type() == "bool" {
			o = cobra.NoFileCompletions
		}
		_ = cmd.RegisterFlagCompletionFunc(f.Name, o) // it fails where the flag has one
	}
	cmd.LocalFlags().VisitAll(offered)
	for _, below := range cmd.Commands() {
		complete(below)
	}
}

func files(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveDefault
}

func folders(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
	return nil, cobra.ShellCompDirectiveFilterDirs
}

func ending(with string) offer {
	return func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return []string{with}, cobra.ShellCompDirectiveFilterFileExt
	}
}

// lister lists names, each with a tabulator and a word about it. What it cannot read
// it leaves out: nobody wants to be told while typing.
type lister func(cmd *cobra.Command) []string

// names offers those that fit. In a list the last name counts.
func names(list lister) offer {
	return func(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
		at := strings.LastIndexAny(typed, ",&|!() ") + 1
		var fit []string
		for _, name := range list(cmd) {
			if strings.HasPrefix(name, typed[at:]) {
				fit = append(fit, typed[:at]+name)
			}
		}
		return fit, cobra.ShellCompDirectiveNoFileComp
	}
}

// once offers the names for the first argument only.
func once(list lister) offer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return names(list)(cmd, args, typed)
	}
}

// each offers, for every argument, the names that were not given yet.
func each(list lister) offer {
	return func(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		return names(func(cmd *cobra.Command) []string {
			return slices.DeleteFunc(list(cmd), func(name string) bool {
				name, _, _ = strings.Cut(name, "\t")
				return slices.Contains(args, name)
			})
		})(cmd, args, typed)
	}
}

// named is one name with a word about it.
func named(name, about string) string {
	return name + "\t" + printable(strings.ReplaceAll(about, "\n", " "))
}

func fixed(list ...string) lister {
	return func(*cobra.Command) []string { return slices.Clone(list) }
}

func scenarioNames(*cobra.Command) (list []string) {
	for _, i := range scenarios.All() {
		list = append(list, named(i.Slug, i.Title))
	}
	return list
}

func mutantNames(*cobra.Command) (list []string) {
	for _, m := range mutant.All() {
		list = append(list, named(m.Name, m.Description))
	}
	return list
}

func explainNames(cmd *cobra.Command) (list []string) {
	for _, i := range invariant.All() {
		list = append(list, named(string(i.ID), i.Name))
	}
	list = append(list, scenarioNames(cmd)...)
	list = append(list, checkNames(cmd)...)
	list = append(list, mutantNames(cmd)...)
	for _, w := range words {
		list = append(list, named(w.Name, w.Kind))
	}
	return list
}

func checkNames(*cobra.Command) (list []string) {
	for _, c := range check.All() {
		list = append(list, named(c.ID, c.Title))
	}
	return list
}

func labelNames(*cobra.Command) []string {
	about := map[string]string{}
	for _, i := range scenarios.All() {
		about[string(i.Group)], about[i.Level.String()] = "group", "level"
		for _, label := range i.Labels {
			about[label] = "label"
		}
	}
	var list []string
	for _, name := range slices.Sorted(maps.Keys(about)) {
		list = append(list, named(name, about[name]))
	}
	return list
}

func wireNames(*cobra.Command) []string { return protocolNames() }

// deployedOf are the profiles and contracts of the folders that stand on the command
// line so far.
func deployedOf(cmd *cobra.Command) *deployed {
	var d deployed
	for name, into := range map[string]*string{"profiles": &d.profilesDir, "contracts": &d.contractsDir} {
		if f := cmd.Flags().Lookup(name); f != nil {
			*into = f.Value.String()
		}
	}
	return &d
}

func routes(all map[string]providers.Profile, about string) (list []string) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		list = append(list, named(name, strings.TrimSpace(about+string(all[name].Protocol)+" "+all[name].Model)))
	}
	return list
}

func providerNames(cmd *cobra.Command) []string {
	all, _ := deployedOf(cmd).profiles()
	return routes(all, "")
}

// routeNames are the deployed profiles and the public endpoints of vendors.
func routeNames(cmd *cobra.Command) []string {
	list := providerNames(cmd)
	if fsys, dir, err := folder("", "vendors"); err == nil {
		vendors, _ := profile.Vendors(fsys, dir)
		list = append(list, routes(vendors, "vendor, with --model: ")...)
	}
	return list
}

func contractNames(cmd *cobra.Command) (list []string) {
	all, _ := deployedOf(cmd).gateFacts("")
	for _, id := range slices.Sorted(maps.Keys(all)) {
		list = append(list, named(id, all[id].Name()))
	}
	return list
}

// caseNames are the cases of the contract that stands on the command line so far.
func caseNames(cmd *cobra.Command) (list []string) {
	f := cmd.Flags().Lookup("contract")
	if f == nil || f.Value.String() == "" {
		return nil
	}
	c, _, err := deployedOf(cmd).contract(f.Value.String())
	if err != nil {
		return nil
	}
	for _, one := range c.Cases {
		list = append(list, named(one.ID, "case of "+c.Ref()))
	}
	return list
}

func badNames(*cobra.Command) (list []string) {
	all, _ := certify.BadProviders(fixtures.FS, "bad")
	for _, b := range all {
		list = append(list, named(b.ID, "the provider that "+b.Title))
	}
	return list
}

// address offers the providers of NAME=HOST:PORT.
func address(cmd *cobra.Command, _ []string, typed string) ([]string, cobra.ShellCompDirective) {
	list, directive := names(func(cmd *cobra.Command) (list []string) {
		for _, line := range providerNames(cmd) {
			name, about, _ := strings.Cut(line, "\t")
			list = append(list, named(name+"=", about))
		}
		return list
	})(cmd, nil, typed)
	return list, directive | cobra.ShellCompDirectiveNoSpace
}

// profilesOrFiles are built-in profiles, and files.
func profilesOrFiles(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	list, _ := names(providerNames)(cmd, args, typed)
	return list, cobra.ShellCompDirectiveDefault
}

// mostOffered bounds how many plans are read while somebody types.
const mostOffered = 100

// plansOrScenarios are the scenarios whose names begin so, each with the @ before its
// seed, and else plans.
func plansOrScenarios(cmd *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	var list []string
	for _, i := range scenarios.All() {
		if len(args) == 0 && typed != "" && strings.HasPrefix(i.Slug+"@", typed) {
			list = append(list, named(i.Slug+"@", i.Title))
		}
	}
	if len(list) > 0 {
		return list, cobra.ShellCompDirectiveNoSpace
	}
	return planFiles(cmd, args, typed)
}

// planFiles are the plans that explore wrote here; where there is none, files.
func planFiles(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	found, _ := filepath.Glob(filepath.Join(outFolder, "*", "plans", "*.json"))
	var list []string
	for _, file := range found[:min(len(found), mostOffered)] {
		if !strings.HasPrefix(file, typed) {
			continue
		}
		if p, err := plan.Load(file); err == nil {
			operations, faults := p.Size()
			list = append(list, named(file, fmt.Sprintf("%s, %d operations, %d faults", or(string(p.Invariant), "no violation"), operations, faults)))
		}
	}
	if len(list) == 0 {
		return ending("json")(nil, nil, "")
	}
	return list, cobra.ShellCompDirectiveDefault
}

// serviceFlags offers the flags of a command that parses its own.
func serviceFlags(command string) offer {
	return func(_ *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		flags := service.Flags(command)
		if len(args) > 0 {
			last := flags.Lookup(strings.TrimLeft(args[len(args)-1], "-"))
			if last != nil && strings.HasPrefix(args[len(args)-1], "-") && !isSwitch(last) { // typed is its value
				kind, _ := flag.UnquoteUsage(last)
				switch kind {
				case "file":
					return nil, cobra.ShellCompDirectiveDefault
				case "folder":
					return nil, cobra.ShellCompDirectiveFilterDirs
				}
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
		}
		var list []string
		flags.VisitAll(func(f *flag.Flag) {
			_, usage := flag.UnquoteUsage(f)
			if name := "--" + f.Name; usage != "" && strings.HasPrefix(name, typed) {
				list = append(list, named(name, usage))
			}
		})
		return list, cobra.ShellCompDirectiveNoFileComp
	}
}

func isSwitch(f *flag.Flag) bool {
	b, ok := f.Value.(interface{ IsBoolFlag() bool })
	return ok && b.IsBoolFlag()
}
