// Runs fuzz.mjs over random toy tokenizers, each in a process of its own, since
// the library aborts on some mixes (those are counted and passed over).
//
//   node fuzz_toys.mjs FOLDER INTERLOCK FIRST-SEED TOYS TEXTS
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { chance } from './oracle.mjs';
import { toy } from './toys.mjs';

const [, , folder, interlock, first, toys, texts] = process.argv;
const dir = mkdtempSync(path.join(os.tmpdir(), 'toys-'));
let equal = 0, aborted = 0, different = 0;
for (let seed = Number(first); seed < Number(first) + Number(toys); seed++) {
  const file = path.join(dir, `${seed}.json`);
  writeFileSync(file, JSON.stringify(toy(chance(seed))));
  const r = spawnSync(process.execPath, [path.join(import.meta.dirname, 'fuzz.mjs'), folder, interlock, String(seed), texts, file], { encoding: 'utf8' });
  if (r.status === 0) equal++;
  else if (r.stdout.includes('differences')) {
    different++;
    console.log(r.stdout);
  } else {
    aborted++;
    const why = (r.stderr.match(/panicked at .*\n.*/) ?? r.stderr.match(/(Error|interlock): .*/) ?? [r.stderr.slice(0, 200)])[0];
    console.log(`seed ${seed} passed over: ${why}`);
  }
}
console.log(`${equal} toys equal, ${different} different, ${aborted} passed over`);
process.exit(different ? 1 : 0);
