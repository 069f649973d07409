package cli_test

// exitRow is one command that comes to one verdict. $F in args is the folder of
// the fixtures that exitFixtures makes, $OUT a path that does not exist yet.
type exitRow struct {
	command string
	args    string // after the command
	code    int
	stdin   string
	env     []string
	// heavy rows set a stage: they go through fewer ways unless -every-way is given.
	heavy bool
	// silent rows write nothing to standard output, so a full disk changes nothing.
	silent bool
	// noJSON says why --json has no place here.
	noJSON string
}

const (
	refusedURL   = "postgres://nobody@127.0.0.1:1/none" // nothing listens on port 1
	textOfOthers = "the text is that of another program's grammar"
	listOfShell  = "completion is a script"
)

// exitTable holds every command with every verdict that it can come to.
var exitTable = []exitRow{
	{command: "verify", args: "double-click --seed 7 --out $OUT", code: 0, heavy: true},
	{command: "verify", args: "reverse-order --seed 7 --out $OUT --mutant last-write-wins", code: 1, heavy: true},
	{command: "verify", args: "--list --label none", code: 2, silent: true},
	{command: "verify", args: "--label submit&&completion", code: 2, silent: true},
	{command: "verify", args: "double-click --out $OUT --pg-url " + refusedURL, code: 3, silent: true, noJSON: "it tells of the run"},
	{command: "verify", args: "double-click --out $F/file/below", code: 3, silent: true},
	{command: "verify", args: "duoble-click", code: 64, silent: true},
	{command: "verify", args: "--list", code: 0},
	{command: "verify", args: "--dry-run", code: 0},

	{command: "replay", args: "$F/good.json --times 1", code: 0, heavy: true},
	{command: "replay", args: "$F/bad.json --times 1", code: 1, heavy: true},
	{command: "replay", args: "$F/good.json --pg-url " + refusedURL, code: 3, silent: true},
	{command: "replay", args: "$F/none.json", code: 64, silent: true},

	{command: "explore", args: "--plans 1 --seed 1 --out $OUT", code: 0, heavy: true},
	{command: "explore", args: "--interleave --replay raced/complete+complete:01010 --mutant last-write-wins", code: 1, heavy: true},
	{command: "explore", args: "--plans 1 --seed 1 --out $OUT --pg-url " + refusedURL, code: 3, silent: true},
	{command: "explore", args: "--plans 0", code: 64, silent: true},

	{command: "mutants", args: "last-write-wins --seed 7 --procs 1 --out $OUT", code: 0, heavy: true},
	{command: "mutants", args: "last-write-wins --seed 7 --procs 1 --out $OUT --scenario double-click", code: 2, heavy: true},
	{command: "mutants", args: "last-write-wins --out $OUT --pg-url " + refusedURL, code: 3, silent: true},
	{command: "mutants", args: "last-wirte-wins", code: 64, silent: true},
	{command: "mutants", args: "last-write-wins --full --scenario double-click", code: 64, silent: true},
	{command: "mutants", args: "--list", code: 0},

	{command: "certify", args: "anthropic-demo --contract invoice --dry-run", code: 0},
	{command: "certify", args: "anthropic-demo --contract invoice --case de-heizung --check S02", code: 0},
	{command: "certify", args: "anthropic-demo --contract invoice --no-job-service --bad below-minimum --out $OUT --certs $OUT/certs", code: 1},
	{command: "certify", args: "anthropic-demo --contract invoice --no-job-service --certs $OUT/certs --out $OUT", code: 2},
	{command: "certify", args: "anthropic-demo --contract invoice --no-job-service --live --profiles $F/away --max-calls 1", code: 3, silent: true},
	{command: "certify", args: "anthropic-demo --contract invoce", code: 64, silent: true},

	{command: "gate", args: "--from openai-demo --to anthropic-demo --contract invoice --certs $F/certificates", code: 0},
	{command: "gate", args: "--from openai-demo --to anthropic-demo --contract invoice --certs $F/rejected", code: 1},
	{command: "gate", args: "--from openai-demo --to anthropic-demo --contract invoice", code: 2},
	{command: "gate", args: "--from openai-demo --to anthropic-demo --contract invoice --certs $F/loop", code: 3, silent: true, noJSON: "it says it on standard error"},
	{command: "gate", args: "--from openai-demo --to openai-demo --contract invoice", code: 64, silent: true},
	{command: "gate", args: "--matrix", code: 0},

	{command: "record", args: "anthropic-demo --contract invoice --yes --max-calls 1 --profiles $F/away", code: 3, silent: true},
	{command: "record", args: "anthropic-demo --contract invoice", code: 64, silent: true},

	{command: "judge", args: "$F/accepted.json", code: 0},
	{command: "judge", args: "$F/refused.json", code: 1},
	{command: "judge", args: "$F/unknown.json", code: 2},
	{command: "judge", args: "$F/loop", code: 3, silent: true},
	{command: "judge", args: "-", stdin: "{", code: 64, silent: true},

	{command: "report", args: "$F/good", code: 0},
	{command: "report", args: "$F/good --check", code: 0},
	{command: "report", args: "$F/changed --check", code: 1},
	{command: "report", args: "$F/empty", code: 3, silent: true},
	{command: "report", args: "$F/none", code: 64, silent: true},
	{command: "report merge", args: "$F/empty", code: 3, silent: true},
	{command: "report merge", args: "", code: 64, silent: true},
	{command: "report merge", args: "$F/none", code: 64, silent: true},

	{command: "bench service", args: "--clients 0", code: 64, silent: true},

	{command: "contract lint", args: "", code: 0, silent: true},
	{command: "contract lint", args: "--protocol gemini", code: 1},
	{command: "contract lint", args: "$F/none", code: 64, silent: true},

	{command: "lock", args: "$F/empty --check", code: 1, silent: true, noJSON: "it says it on standard error"},
	{command: "lock", args: "$F/none", code: 64, silent: true},

	{command: "key new", args: "$OUT", code: 0},
	{command: "key new", args: "$F/file/below", code: 3, silent: true},
	{command: "key new", args: "$F/issuer.key", code: 64, silent: true},
	{command: "key show", args: "$F/issuer.key", code: 0},
	{command: "key show", args: "$F/file", code: 64, silent: true},

	{command: "explain", args: "I5", code: 0},
	{command: "explain", args: "I99", code: 64, silent: true},
	{command: "doctor", args: "", code: 0},
	{command: "doctor", args: "", code: 3, env: []string{"TMPDIR=/none"}},
	{command: "doctor", args: "x", code: 64, silent: true},
	{command: "healthcheck", args: "http://127.0.0.1:1/", code: 1, silent: true, noJSON: "it says nothing"},
	{command: "healthcheck", args: "127.0.0.1:1", code: 64, silent: true},
	{command: "version", args: "", code: 0},
	{command: "version", args: "x", code: 64, silent: true},
	{command: "completion bash", args: "", code: 0, noJSON: listOfShell},
	{command: "completion zsh", args: "", code: 0, noJSON: listOfShell},
	{command: "completion fish", args: "", code: 0, noJSON: listOfShell},
	{command: "completion powershell", args: "", code: 0, noJSON: listOfShell},
	{command: "completion bash", args: "x", code: 64, silent: true},
	{command: "man", args: "$OUT", code: 0},
	{command: "man", args: "$F/file/below", code: 3, silent: true},
	{command: "man", args: "", code: 64, silent: true},

	{command: "prompt render", args: "--template $F/template.jinja", stdin: `{"messages": [{"role": "user", "content": "Hi"}]}`, code: 0},
	{command: "prompt render", args: "", code: 64, silent: true},
	{command: "prompt tokenize", args: "", code: 64, silent: true},
	{command: "prompt check", args: "", code: 64, silent: true},
	{command: "prompt show", args: "", code: 64, silent: true},
	{command: "prompt fetch", args: "--none", code: 64, silent: true},

	{command: "serve", args: "--none", code: 64, silent: true, noJSON: textOfOthers},
	{command: "serve", args: "--pg-url " + refusedURL, code: 3, silent: true, noJSON: textOfOthers},
	{command: "migrate", args: "--none", code: 64, silent: true, noJSON: textOfOthers},
	{command: "migrate", args: "--pg-url " + refusedURL, code: 3, silent: true, noJSON: textOfOthers},
	{command: "up", args: "--port x", code: 64, silent: true},
	{command: "up", args: "--port 0 --no-input --pg-url " + refusedURL, code: 3, silent: true},
	{command: "stand provider", args: "", code: 64, silent: true},
	{command: "stand balancer", args: "", code: 64, silent: true},
}

// exitNever says why a command cannot come to a verdict, or where that is tested
// instead.
var exitNever = map[string]map[int]string{
	"replay":        {2: "of a plan that proves nothing: as TestASearchThatProvedNothingIsInconclusive"},
	"explore":       {2: "a search of nothing is a usage error; of plans that prove nothing: TestASearchThatProvedNothingIsInconclusive"},
	"mutants":       {1: "no mutant survives; one that did: TestTextCountsAndNamesTheSurvivor"},
	"record":        {0: "it asks a provider: TestWhatIsRecordedIsPlayedAgain", 1: "it judges nothing", 2: "it judges nothing"},
	"report":        {2: "an empty history: TestCheckOfARunOfNothingIsInconclusive"},
	"report merge":  {0: "shards of a search: TestShardsHaveEveryPlanOnceAndMerge", 1: "the same", 2: "the same"},
	"bench service": {0: "it takes a minute: TestRunMeasuresEverything", 1: "the same", 2: "turns that lie too far apart to compare: TestBenchIsComparedWithItsBaseline", 3: "the same"},
	"contract lint": {2: "it finds or does not", 3: "a folder that cannot be read is none"},
	"lock":          {0: "TestALockedFolderIsUsedUnchangedOrNotAtAll", 2: noVerdict, 3: "a folder that cannot be written to: as key new"},
	"key new":       {1: noVerdict, 2: noVerdict},
	"key show":      {1: noVerdict, 2: noVerdict, 3: "a key file that cannot be used is a mistake"},
	"explain":       {1: noVerdict, 2: noVerdict, 3: noVerdict},
	"doctor":        {1: noVerdict, 2: noVerdict},
	"healthcheck":   {0: "TestUpServesUntilInterrupted", 2: noVerdict, 3: "what does not answer is not healthy: 1"},
	"version":       {1: noVerdict, 2: noVerdict, 3: noVerdict},
	"man":           {1: noVerdict, 2: noVerdict},

	"completion bash":       {1: noVerdict, 2: noVerdict, 3: noVerdict},
	"completion zsh":        {1: noVerdict, 2: noVerdict, 3: noVerdict, 64: sameCode},
	"completion fish":       {1: noVerdict, 2: noVerdict, 3: noVerdict, 64: sameCode},
	"completion powershell": {1: noVerdict, 2: noVerdict, 3: noVerdict, 64: sameCode},

	"prompt render":   {1: "a template that refuses: TestPromptRenderRefusesWithTheClassOfTheException", 2: noVerdict, 3: noVerdict},
	"prompt tokenize": {0: "TestPromptTokenizeTurnsTextsIntoIDsAndBack", 1: noVerdict, 2: noVerdict, 3: noVerdict},
	"prompt check":    {0: "TestPromptCheckFailsWhereAFaultIs", 1: "the same", 2: "the same", 3: "the same"},
	"prompt show":     {0: "TestPromptShowPutsBudgetsSideBySide", 1: "the same", 2: noVerdict, 3: noVerdict},
	"prompt fetch":    {0: "it needs a registry", 1: noVerdict, 2: noVerdict, 3: "it needs a registry"},

	"serve":          {0: "TestTermLeavesWhatIsUnderWayUnknown", 1: noVerdict, 2: noVerdict},
	"migrate":        {0: "TestMigrateCanBeRepeated", 1: noVerdict, 2: noVerdict},
	"up":             {0: noEnd, 1: noVerdict, 2: noVerdict},
	"stand provider": {0: noEnd, 1: noVerdict, 2: noVerdict, 3: "a port that is taken: as up"},
	"stand balancer": {0: noEnd, 1: noVerdict, 2: noVerdict, 3: "a port that is taken: as up"},
}

const (
	noVerdict = "it gives no verdict"
	noEnd     = "it ends by a signal only, as TestUpServesUntilInterrupted"
	sameCode  = "as completion bash: cobra's one command"
)
