// The page around the lanes. Its data are packed by pack.go.
(async () => {
const root = document.documentElement;
const $ = (q, r = document) => r.querySelector(q), $$ = (q, r = document) => [...r.querySelectorAll(q)];
const SIGN = {__proto__: null, pass: '✓', violation: '✗', inconclusive: '?', infrastructure: '!'};
const message = text => { const m = $('#message'); m.textContent = text; m.hidden = !text; };

// ---- light and dark ----
// Where storage is off the choice holds for this page.
try { if (localStorage['interlock-theme']) root.dataset.theme = localStorage['interlock-theme']; } catch {}
$('#theme').onclick = () => {
  root.dataset.theme = (root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches) ? 'light' : 'dark';
  try { localStorage['interlock-theme'] = root.dataset.theme; } catch {}
};

// ---- clicks ----
const copy = async b => {
  let ok = true;
  try { await navigator.clipboard.writeText(b.dataset.copy); } catch {
    const area = el('textarea', {value: b.dataset.copy});
    b.after(area); area.select();
    ok = document.execCommand('copy');
    area.remove();
  }
  b.textContent = ok ? 'Copied' : 'Press Ctrl+C';
  setTimeout(() => b.textContent = 'Copy', 1500);
};
document.addEventListener('click', ({target}) => {
  const button = target.closest('.copy, [data-key]'), play = target.closest('a') || target.closest('tr[data-play], g[data-play]');
  if (button) button.dataset.key ? press(button.dataset.key) : copy(button);
  else if (play?.dataset.play) fresh(play.dataset.play, true);
});

// ---- the table of scenarios ----
const filter = $('#filter'), toggles = $$('.toggle'), scenarios = $$('#scenario-table tbody tr');
const applyFilter = () => {
  const words = filter.value.toLowerCase().split(/\s+/), off = toggles.filter(t => t.ariaPressed === 'false').map(t => t.dataset.verdict);
  for (const row of scenarios) {
    const text = row.textContent.toLowerCase(), v = row.dataset.verdict;
    row.hidden = !words.every(w => text.includes(w)) || (v === 'none' ? off.length : off.includes(v));
  }
  const shown = scenarios.filter(row => !row.hidden).length;
  $('#filter-note').textContent = shown === scenarios.length ? '' : `${shown} of ${scenarios.length} scenarios are shown.`;
};
filter.oninput = () => { applyFilter(); state.q = filter.value; remember(); };
for (const t of toggles) t.onclick = () => { t.ariaPressed = t.ariaPressed === 'false'; applyFilter(); };

// ---- another run beside this one: its report.json is read here and goes nowhere ----
const said = s => s ? `${SIGN[s.verdict] || ''} ${s.verdict} ${(s.violated || []).join(' ')}`.trim() : '– not played';
// rank is 0 where a scenario came out otherwise, 1 where it took notably more or
// less time, 2 where it is the same.
const rank = ({before, now}) => {
  if (said(before) !== said(now)) return 0;
  const [less, more] = [before.took_ms, now.took_ms].sort((a, b) => a - b);
  return more - less >= 100 && 2 * more >= 3 * less ? 1 : 2;
};
$('#another').onchange = async ({target: {files: [file]}}) => {
  const out = $('#compared');
  out.hidden = false;
  try {
    if (file.size > 64e6) throw 0;
    const r = JSON.parse(await file.text()), was = new Map(r.scenarios.map(s => [String(s.slug), s]));
    if (r.format !== 'interlock-report/1') throw 0;
    const rows = $$('#scenario-table tr[data-play]').map(row => {
      const slug = $('th a', row).textContent, before = was.get(slug), [operations, took_ms] = [...row.cells].slice(-2).map(c => Number(c.textContent));
      was.delete(slug);
      return {slug, before, now: {verdict: row.dataset.verdict, violated: row.dataset.violated.split(' ').filter(Boolean), operations, took_ms}};
    });
    for (const [slug, before] of was) rows.push({slug, before});
    rows.sort((a, b) => rank(a) - rank(b));
    const n = k => rows.filter(p => rank(p) === k).length;
    out.replaceChildren(
      el('p', {role: 'status'}, `Beside ${file.name} (seed ${r.run?.seed}): ${n(0)} changed, ${n(1)} took notably more or less time, ${n(2)} the same.`),
      el('div', {className: 'scroll', tabIndex: 0, role: 'region', ariaLabel: 'Both runs'}, table(['scenario', 'before', 'now', 'ms before', 'ms now', 'operations before', 'operations now'],
        ...rows.map(p => el('tr', {}, el('th', {scope: 'row'}, p.slug), ...[p.before, p.now].map(s => el('td', {className: SIGN[s?.verdict] ? 'c-' + s.verdict : ''}, said(s))),
          ...['took_ms', 'operations'].flatMap(k => [p.before, p.now].map(s => el('td', {className: 'num'}, String(s?.[k] ?? '–')))))))));
  } catch { out.replaceChildren(el('p', {role: 'status'}, `${file?.name ?? 'That'} is no report.json of interlock verify.`)); }
};

// ---- data ----
let plays = [], failed;
try {
  const bytes = Uint8Array.from(atob($('#data').textContent), c => c.charCodeAt(0));
  const data = await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'))).json();
  plays = data.plays.map(p => playOf(p, data.texts));
} catch { failed = true; }
const bad = plays.filter(p => p.verdict !== 'pass'), byName = new Map(plays.map(p => [p.name, p])), titled = p => `${SIGN[p.verdict]} ${p.name}`, option = p => new Option(titled(p), p.name);

// ---- explorer ----
// The state is what the address holds: scenario, job, time, stretch and filter.
const state = {s: '', job: '', t: '', z: '', q: ''}, pick = $('#pick'), pickJob = $('#pick-job'), pickOther = $('#pick-compare');
let now, explorer, ready;
const remember = () => {
  const hash = '#' + new URLSearchParams(Object.entries(state).filter(([, v]) => v));
  // A browser may find this too often: the next one will do.
  try { if (ready && hash !== location.hash) history.replaceState(null, '', hash); } catch {}
};
if (plays.length) {
  explorer = lanesIn($('#here'), {
    moved: z => { state.z = z ? z.map(t => Math.round(t / 1000)).join('-') : ''; remember(); },
    chose: i => { state.t = String(Math.round(now.t0[i] / 1000)); remember(); },
  });
  explorer.view.prepend($('.lanes-bar'));
  pick.append(...plays.map(option));
  pick.onchange = () => fresh(pick.value);
  pickJob.onchange = () => fresh(now.name, false, pickJob.value);
  pickOther.onchange = () => beside(byName.get(pickOther.value));
}
const beside = p => {
  const box = $('#beside');
  box.replaceChildren();
  if (!p) return;
  box.append(el('p', {className: 'note'}, `Beside it: ${titled(p)}`));
  lanesIn(box).set(p);
};
const open = (name, scroll) => {
  const p = byName.get(name);
  if (!p) return;
  now = p;
  state.s = pick.value = name;
  pickJob.replaceChildren(new Option('all', ''), ...p.jobs.filter(Boolean).map(j => new Option(j)));
  const job = Math.max(0, p.jobs.indexOf(state.job)), [, from, to] = state.z.match(/^(\d+)-(\d+)$/) || [];
  pickJob.value = p.jobs[job];
  pickOther.replaceChildren(new Option('nothing', ''), ...plays.filter(o => o !== p && (o.slug === p.slug || plays.length < 12)).map(option));
  beside();
  $('#lanes-name').textContent = titled(p);
  if (!(+from < +to)) state.z = '';
  explorer.set(p, job, state.z ? [from * 1000, to * 1000] : null);
  if (/^\d+$/.test(state.t)) {
    const broke = new Set(p.marks.map(m => m.n)), far = i => Math.abs(p.t0[i] / 1000 - state.t) - (broke.has(p.n[i]) ? .9 : 0);
    explorer.select(p.n.reduce((best, _, i) => best < 0 || far(i) < far(best) ? i : best, -1));
  }
  remember();
  if (scroll) $('#lanes').scrollIntoView();
};
const fresh = (name, scroll, job = '') => { Object.assign(state, {job, t: '', z: ''}); open(name, scroll); };

// ---- address ----
const missing = (what, name) => message(`This report has no ${what} called “${name.slice(0, 80)}”.`);
const follow = () => {
  const raw = location.hash.slice(1), q = new URLSearchParams(raw);
  if (raw && !raw.includes('=')) {
    if (!document.getElementById(raw)) missing('part', raw);
    return;
  }
  for (const k in state) state[k] = q.get(k) || '';
  filter.value = state.q; applyFilter();
  message('');
  if (byName.has(state.s)) open(state.s, true);
  else if (state.s) { missing('scenario', state.s); state.s = ''; }
  else if (!now && plays.length) open((plays.find(p => p.verdict === 'violation') || bad[0] || plays[0]).name);
};
addEventListener('hashchange', follow);

// ---- lanes inside the violations ----
for (const slot of $$('.lanes-slot')) {
  const p = byName.get(slot.dataset.play);
  if (!p?.count) continue;
  const seen = new IntersectionObserver(([s]) => { if (s.isIntersecting) { seen.disconnect(); lanesIn(slot, {compact: true}).set(p); } }, {rootMargin: '300px'});
  seen.observe(slot);
}

// ---- keys ----
const keys = $('#keys');
const move = (list, by) => {
  const at = list.indexOf(now);
  if (list.length) fresh(list[at < 0 ? 0 : (at + by + list.length) % list.length].name, true);
};
const press = key => {
  const act = {
    '?': () => keys.showModal(), j: () => move(plays, 1), k: () => move(plays, -1), n: () => move(bad, 1), p: () => move(bad, -1), f: () => filter.focus(),
    c: () => copy($(`details[data-play="${CSS.escape(state.s)}"] .copy`) || $('.copy')),
  }[key];
  if (act) act();
  return !!act || explorer?.key(key);
};
addEventListener('keydown', e => {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === 'Escape') { message(''); if (document.activeElement === filter) { filter.blur(); return; } }
  else if (keys.open || e.target.closest('input, select, textarea')) return;
  if (press(e.key) && e.key !== 'Escape') e.preventDefault();
});

// ---- print: each violation on a page, its lanes as a picture and a table ----
addEventListener('beforeprint', () => {
  for (const d of $$('details')) d.open = true;
  const {theme} = root.dataset, out = $('#print');
  root.dataset.theme = 'light';
  out.style.display = 'block';
  for (const p of bad.filter(p => p.count).slice(0, 30)) {
    const room = el('figure', {}, el('h2', {}, titled(p)));
    room.style.width = '1000px';
    out.append(room);
    const l = lanesIn(room);
    l.set(p);
    l.view.replaceWith(el('img', {src: l.canvas.toDataURL(), alt: l.canvas.ariaLabel}), l.facts);
    room.style.width = '';
  }
  out.style.display = '';
  if (theme) root.dataset.theme = theme; else delete root.dataset.theme;
});
addEventListener('afterprint', () => $('#print').replaceChildren());

follow();
if (failed) message('This browser cannot unpack the lanes of the report. The violations above and history.jsonl hold the same facts.');
root.dataset.ready = ready = true;
})();
