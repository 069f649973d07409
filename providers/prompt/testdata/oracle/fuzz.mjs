// Compares `interlock prompt tokenize` with the library: ids with and without
// the tokens of the post-processor, and the text decoded from them.
//
//   node fuzz.mjs FOLDER INTERLOCK SEED COUNT TOKENIZER.json...
//
// prints one line for each tokenizer and the first differences, and exits with 1
// if there is any.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { Tokenizer, chance } from './oracle.mjs';
import { strings } from './strings.mjs';

const [, , , interlock, seed, count, ...files] = process.argv;
const run = (file, input, ...flags) => JSON.parse(execFileSync(interlock, ['prompt', 'tokenize', '--tokenizer', file, ...flags],
  { input: JSON.stringify(input), maxBuffer: 1 << 30 }));
let different = 0;
for (const file of files) {
  const parts = JSON.parse(readFileSync(file, 'utf8'));
  const special = parts.added_tokens.map(t => t.content);
  const texts = strings(chance(Number(seed)), special, Number(count));
  const tokenizer = Tokenizer.fromFile(file);
  const want = [];
  for (const text of texts) {
    const ids = (await tokenizer.encode(text, null, { addSpecialTokens: false })).getIds();
    const framed = (await tokenizer.encode(text, null, { addSpecialTokens: true })).getIds();
    want.push({ ids, framed, text: await tokenizer.decode(framed, false), bare: await tokenizer.decode(framed, true) });
  }
  const got = {
    ids: run(file, texts), framed: run(file, texts, '--add-special'),
    text: run(file, want.map(w => w.framed), '--decode'), bare: run(file, want.map(w => w.framed), '--decode', '--no-special'),
  };
  let here = 0;
  for (const key of ['ids', 'framed', 'text', 'bare']) {
    texts.forEach((text, i) => {
      const [g, w] = [JSON.stringify(got[key][i]), JSON.stringify(want[i][key])];
      if (g !== w && ++here <= 5) console.log(`${key} of ${JSON.stringify(text)}\n  got  ${g}\n  want ${w}`);
    });
  }
  console.log(`${file}: ${texts.length} texts, ${here} differences`);
  different += here;
}
process.exit(different ? 1 : 0);
