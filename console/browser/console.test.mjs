// What a person does at the console, in headless Chromium. Elements are found by
// role and name, waits end with what is waited for, and every test fails on a
// console error, a dialog or a request beyond loopback.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {monitorEventLoopDelay} from 'node:perf_hooks';
import {after, afterEach, before, test} from 'node:test';
import {Watch, bound, isLive, press, sees, startBrowser, startConsole} from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const watch = new Watch();
let server, browser, page;

async function tab(path) {
  const opened = await browser.newPage();
  watch.page(opened);
  await opened.setViewport({width: 1440, height: 900});
  await opened.goto(server.base + path);
  return opened;
}

async function go(path) {
  await page.goto(server.base + path);
  await isLive(page);
}

// tabTo presses Tab until the element that has the focus is the one wanted.
async function tabTo(wanted, want) {
  for (let i = 0; i < 90; i++) {
    await page.keyboard.press('Tab');
    const there = await page.evaluate((source, id) => {
      const e = document.activeElement;
      e.dataset.want = id;
      const ok = Boolean(new Function('return ' + source)()(e));
      delete e.dataset.want;
      return ok;
    }, wanted.toString(), want);
    if (there) return;
  }
  assert.fail(`Tab never reaches ${wanted} of ${want}`);
}

// looksWell holds the page that stands there to the rules of accessibility in both
// schemes, on a desk and a phone, and to the width of its window.
async function looksWell(name) {
  await page.evaluate(axe);
  for (const width of [1440, 375]) {
    await page.setViewport({width, height: 800});
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}, {name: 'prefers-reduced-motion', value: 'reduce'}]);
      const broken = await page.evaluate(async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`));
      assert.deepEqual(broken, [], `${name} in ${scheme} at ${width}`);
    }
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(over <= 0, `${name} is ${over} px wider than ${width}`);
  }
  await page.setViewport({width: 1440, height: 900});
}

before(async () => {
  [server, browser] = await Promise.all([startConsole(), startBrowser()]);
  page = await browser.newPage();
  watch.page(page);
  await page.setViewport({width: 1440, height: 900});
  await page.goto(server.url);
  await isLive(page);
});

after(async () => {
  await browser?.close();
  await server?.end('SIGINT');
});

afterEach(() => {
  assert.deepEqual(watch.wrong.splice(0), []);
});

test('two clicks make one job, and both answers name it', async () => {
  await go('/');
  await press(page, 'button', 'Submit twice');
  await sees(page, 'Two clicks at once, one job');
  const statuses = await page.$$eval('.reply', (list) => list.map((r) => r.dataset.status).sort());
  assert.deepEqual(statuses, ['200', '201']);
  const ids = await page.$$eval('.reply pre', (list) => list.map((pre) => JSON.parse(pre.textContent).id));
  assert.equal(ids.length, 2);
  assert.equal(ids[0], ids[1]);
  await sees(page, 'One attempt wrote the result');
});

// The bound is that of the console: 300 ms from the deadline to what a person
// sees. A machine that does not let even an idle timer run in that time has
// measured itself, and the result is inconclusive.
test('a stalled call is shown as unknown within 300 ms of its deadline', async (t) => {
  await go('/providers');
  await press(page, 'button', 'Hold calls at openai-demo');
  await sees(page, 'Calls wait for you');
  await go('/');
  await page.$eval('#deadline', (field) => { field.value = '900'; });
  await page.evaluate(() => {
    let last = performance.now(), gap = 0;
    setInterval(() => {
      const now = performance.now();
      gap = Math.max(gap, now - last - 10);
      last = now;
    }, 10);
    new MutationObserver(() => {
      const row = document.querySelector('#last tr[data-state="unknown"]');
      if (row && !window.seen) window.seen = {at: Date.now(), due: Number(row.dataset.due), since: Number(row.querySelector('[data-from]').dataset.from), gap};
    }).observe(document.body, {subtree: true, childList: true, attributes: true});
  });
  const delay = monitorEventLoopDelay({resolution: 10});
  await press(page, 'button', 'Submit');
  delay.enable();
  const {at, due, since, gap} = await (await page.waitForFunction(() => window.seen, {timeout: bound, polling: 20})).jsonValue();
  delay.disable();
  const idle = Math.round(Math.max(gap, delay.max / 1e6 - 10));
  console.log(`# unknown ${since - due} ms after the deadline, shown after ${at - due} ms; an idle timer was ${idle} ms late`);
  assert.ok(at >= due, 'unknown before the deadline');
  if (at - due > 300 && idle > 100) t.skip(`inconclusive: shown after ${at - due} ms on a machine that held an idle timer for ${idle} ms`);
  else assert.ok(at - due <= 300, `shown ${at - due} ms after the deadline`);
});

test('a retry while the attempt is unknown is refused, with the reason', async () => {
  await page.bringToFront();
  const job = await page.$eval('#last h2 a', (link) => link.getAttribute('href'));
  await go(job);
  await press(page, 'button', 'Retry');
  await sees(page, '409 Conflict', 'attempt-in-flight', 'Refused, and that is right');
});

test('a release, a second attempt and the reverse order leave one race row', async () => {
  await press(page, 'button', 'Release a1');
  await sees(page, 'Done: release a1.');
  await page.$eval('#trigger', (field) => { field.value = 'second'; });
  await press(page, 'button', 'Retry');
  await sees(page, 'Done: retry.');
  const races = await tab('/races');
  await isLive(races);
  await sees(races, 'None yet');
  const providers = await tab('/providers');
  await isLive(providers);
  await providers.waitForFunction(() => document.querySelectorAll('#hold-openai-demo li').length === 2, {timeout: bound, polling: 20});
  await press(providers, 'button', 'Answer the newest first');
  await sees(page, 'winner');
  await press(providers, 'button', 'Let all go on');
  await sees(page, 'late result', '0 rows written', 'a2 had won');
  await races.waitForFunction(() => document.querySelector('tr[data-race]'), {timeout: bound, polling: 20});
  assert.equal((await races.$$('tr[data-race]')).length, 1);
  await Promise.all([races.close(), providers.close()]);
});

test('the tour is walked with the keyboard alone, and shows a discarded late result', async () => {
  await go('/tour');
  const right = ['one job, and both clicks are told of it', 'the attempt is unknown, and no second one may start', 'the second answer; the late one is discarded and on record', 'nothing: the gate is shut, and the job says why'];
  for (const [n, text] of right.entries()) {
    await tabTo((e) => e.type === 'radio' && e.closest('section').id === e.dataset.want, `stop${n + 1}`);
    for (let i = 0; ; i++) { // arrows choose; Space chooses the one that has the focus
      await page.keyboard.press(i === 0 ? 'Space' : 'ArrowDown');
      if (await page.evaluate((want) => document.activeElement.checked && document.activeElement.parentElement.textContent.trim() === want, text)) break;
      assert.ok(i < 3, `the choice "${text}" cannot be reached`);
    }
    await tabTo((e) => e.nodeName === 'BUTTON' && e.closest('section')?.id === e.dataset.want, `stop${n + 1}`);
    await page.keyboard.press('Enter');
    await page.waitForFunction((id) => document.getElementById(id).innerText.includes('You were right.'), {timeout: bound, polling: 20}, `said-${n + 1}`);
  }
  await sees(page, 'Discarded: 68 bytes', 'newcomer-demo was not called.');
});

test('hostile text stays text', async () => {
  await go('/providers');
  await page.select('#moods-openai-demo', 'hostile');
  await page.$eval('#moods-openai-demo', (field) => field.form.querySelector('button').click());
  await sees(page, 'answers so from now on: hostile text');
  await go('/');
  await page.$eval('#text', (field) => { field.value = '"><img src=x onerror=alert(1)>\u202Egnp.exe'; });
  await press(page, 'button', 'Submit');
  await sees(page, 'One click, one job.', 'onerror=alert(1)>\\u202egnp.exe', '<script>alert(1)</script>', '\\u001b[2J');
  const job = await page.$eval('#last h2 a', (link) => link.getAttribute('href'));
  await go(job);
  await page.$eval('#why', (field) => { field.value = '</title><svg onload=alert(1)>\u202E'; });
  await press(page, 'button', 'Cancel the job');
  await page.waitForSelector('#said .answer');
  await go('/');
  await page.$eval('#key', (field) => { field.value = "' onmouseover='alert(1)\u202E"; });
  await press(page, 'button', 'Submit');
  await sees(page, '400 Bad Request', "' onmouseover='alert(1)\\u202e");
  for (const path of ['/', '/tour', '/jobs', job, '/providers', '/faults', '/gate', '/races', '/runs']) {
    await go(path);
    await page.$$eval('details', (list) => list.forEach((d) => { d.open = true; }));
    assert.deepEqual(await page.$$eval('main :is(img, script, iframe, base, meta, style, object, embed), [onerror], [onload], [onmouseover], [onclick]', (list) => list.map((e) => e.outerHTML)), [], path);
    const said = await page.evaluate(() => document.querySelector('main').innerText);
    assert.ok(!/[\u202a-\u202e\u2066-\u2069\u001b]/.test(said), `a direction or control character reaches ${path}`);
  }
  const link = await page.evaluateHandle(() => [...document.querySelectorAll('#past a')].find((a) => a.closest('tr').innerText.includes('onerror')));
  await link.click(); // the report of a run that somebody else left, in a folder that he named
  await page.waitForFunction(() => document.documentElement.dataset.ready, {timeout: bound, polling: 20});
  assert.equal(await page.$$eval('main img, main script, main iframe', (l) => l.length), 0);
  await go('/providers');
  await page.select('#moods-openai-demo', 'good');
  await page.$eval('#moods-openai-demo', (field) => field.form.querySelector('button').click());
  await sees(page, 'answers so from now on: a good answer');
});

test('no page breaks a rule of accessibility, in light and dark, nor scrolls sideways on a phone or with large text', async () => {
  await go('/jobs');
  const job = await page.$eval('tbody a[href^="/jobs/"]', (link) => link.getAttribute('href'));
  for (const path of ['/', '/tour', '/jobs', job, '/providers', '/faults', '/gate', '/races', '/runs', '/problems/attempt-in-flight', '/nowhere']) {
    await go(path);
    await page.$$eval('details', (list) => list.forEach((d) => { d.open = true; }));
    await looksWell(path);
    await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
    const large = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(large <= 0, `${path} is ${large} px too wide with text of twice the size`);
  }
});

const toRun = 120_000; // ends a wait for a run of one scenario
const rows = () => page.$$eval('#live tbody tr[data-i]', (list) => list.length);

test('a scenario is run with the keyboard alone: its lanes grow while it plays, and end with the verdict and the report', async () => {
  await go('/runs');
  assert.equal(await page.$eval('#live', (card) => card.hidden), true, 'nothing was run yet');
  await tabTo((e) => e.id === 'scenario');
  assert.equal(await page.$eval('#scenario', (select) => select.value), 'reverse-order');
  await tabTo((e) => e.textContent === 'Run it');
  await page.keyboard.press('Enter');
  await sees(page, 'The run has begun', 'under way');
  await page.keyboard.press('Enter');
  await sees(page, '409 Conflict', 'A run is under way: wait for its end, or stop it.');
  await page.waitForFunction(() => document.querySelector('#live tbody tr[data-i]'), {timeout: toRun, polling: 20});
  const early = await page.evaluate(() => ({ended: !document.querySelector('#now .state-running'), play: document.getElementById('live-name').textContent, rows: document.querySelectorAll('#live tbody tr[data-i]').length}));
  assert.equal(early.ended, false, 'the lanes are there before the verdict');
  assert.match(early.play, /^reverse-order/);
  await page.waitForFunction(({play, rows}) => document.getElementById('live-name').textContent !== play || document.querySelectorAll('#live tbody tr[data-i]').length > rows, {timeout: toRun, polling: 20}, early);
  await page.waitForFunction(() => document.querySelector('#now .state-pass') && document.querySelector('#now a'), {timeout: toRun, polling: 20});
  const label = await page.$eval('#live canvas', (canvas) => canvas.ariaLabel);
  assert.match(label, new RegExp(`^Lanes of reverse-order(#\\d)?: ${await rows()} events on `), 'the picture and the table show the same events');
  const inked = await page.$eval('#live canvas', (c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size);
  assert.ok(inked > 20, 'the lanes are drawn');
  assert.equal(await page.$eval('#live-state', (e) => e.textContent), '✓ pass');
  await looksWell('/runs with lanes');
  for (const [scheme, light] of [['dark', false], ['light', true]]) { // the lanes go with it
    await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}]);
    await page.waitForFunction((want) => {
      const c = document.querySelector('#live canvas'), corner = new OffscreenCanvas(1, 1).getContext('2d', {willReadFrequently: true});
      corner.drawImage(c, c.width - 1, 1, 1, 1, 0, 0, 1, 1);
      return corner.getImageData(0, 0, 1, 1).data[0] > 128 === want;
    }, {timeout: bound, polling: 20}, light);
  }

  await tabTo((e) => e.nodeName === 'CANVAS');
  await page.keyboard.press(']');
  assert.match(await page.$eval('#live .detail', (e) => e.textContent), /event \d+/);
  assert.equal(await page.$$eval('#live tr[aria-selected="true"]', (list) => list.length), 1);
  const all = await rows();
  await page.keyboard.press('+');
  await page.keyboard.press('+');
  await page.waitForFunction((n) => document.querySelectorAll('#live tbody tr[data-i]').length < n, {timeout: bound, polling: 20}, all);
  await page.keyboard.press('0');
  await page.waitForFunction((n) => document.querySelectorAll('#live tbody tr[data-i]').length === n, {timeout: bound, polling: 20}, all);

  await page.focus('#scenario');
  await tabTo((e) => e.textContent === 'Open the report');
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.documentElement.dataset.ready, {timeout: bound, polling: 20});
  assert.match(await page.$eval('#lanes-name', (e) => e.textContent), /^✓ reverse-order/);
  await page.keyboard.press('j');
  await page.waitForFunction(() => location.hash.includes('s=reverse-order'), {timeout: bound, polling: 20});
});

test('a run of ten thousand events does not harm the page', async () => {
  await go('/runs');
  await page.select('#scenario', 'hundred-clicks');
  await page.evaluate(() => {
    let last = performance.now();
    window.gaps = [];
    const frame = (now) => { window.gaps.push(now - last); last = now; requestAnimationFrame(frame); };
    requestAnimationFrame(frame);
  });
  await press(page, 'button', 'Run it');
  await page.waitForFunction(() => document.querySelector('#now .state-pass') && document.getElementById('live-name').textContent === 'hundred-clicks', {timeout: toRun, polling: 20});
  await page.waitForFunction(() => document.querySelector('#live .lanes-view > .note').textContent.startsWith('8000 more events'), {timeout: bound, polling: 20});
  const gaps = await page.evaluate(() => window.gaps.sort((a, b) => a - b));
  console.log(`# while 10,000 events came in: frames p50 ${gaps[gaps.length >> 1].toFixed(1)} ms, p99 ${gaps[Math.floor(gaps.length * .99)].toFixed(1)} ms, worst ${gaps.at(-1).toFixed(1)} ms`);
  assert.ok(await rows() <= 250, 'the table is bounded');
  assert.match(await page.$eval('#live canvas', (canvas) => canvas.ariaLabel), /: 1000 events on /);
  const elements = await page.$$eval('*', (list) => list.length);
  assert.ok(elements < 4000, `the page has ${elements} elements`);
});

test('a browser without shared workers looks every two seconds', async () => {
  const phone = await browser.newPage();
  watch.page(phone);
  await phone.evaluateOnNewDocument(() => { delete window.SharedWorker; });
  await phone.goto(server.base + '/jobs');
  await isLive(phone);
  const before = await phone.$$eval('tbody tr', (rows) => rows.length);
  await go('/');
  await press(page, 'button', 'Submit');
  await sees(page, 'One click, one job.');
  await phone.waitForFunction((n) => document.querySelectorAll('tbody tr').length > n, {timeout: bound, polling: 20}, before);
  await phone.close();
});

test('eight tabs are live over one stream', async () => {
  const tabs = await Promise.all(Array.from({length: 8}, () => tab('/jobs')));
  await Promise.all(tabs.map(isLive));
  const before = await tabs[0].$$eval('tbody tr', (rows) => rows.length);
  await go('/');
  const began = Date.now();
  await press(page, 'button', 'Submit');
  await Promise.all(tabs.map((t) => t.waitForFunction((n) => document.querySelectorAll('tbody tr').length > n, {timeout: bound, polling: 20}, before)));
  console.log(`# all eight showed the job ${Date.now() - began} ms after the click`);
  const {streams} = await page.evaluate(async () => (await fetch('/healthz')).json());
  assert.equal(streams, 1, 'one browser, one stream');
  await Promise.all(tabs.map((t) => t.close()));
});

test('a console that dies is said to be gone, and what is true is shown when it is back', async () => {
  await go('/jobs');
  const job = await page.$eval('tbody a[href^="/jobs/"]', (link) => link.getAttribute('href'));
  const other = await tab(job);
  await isLive(other);
  watch.downOnPurpose = true;
  await server.end('SIGKILL');
  await Promise.all([page, other].map((p) => p.waitForFunction(() => !document.getElementById('lost').hidden, {timeout: bound, polling: 20})));
  await sees(page, 'The console does not answer since');
  assert.equal(await page.$eval('#link .word', (word) => word.textContent), 'connection lost', 'never stale green');
  assert.ok((await page.$$('tbody tr')).length > 0, 'what was known stays to be read');
  server = await startConsole(server.port);
  await Promise.all([page, other].map(isLive));
  await sees(page, 'Nothing was submitted yet'); // its stage is a new one, and empty
  await sees(other, 'There is no job');
  for (const p of [page, other]) assert.equal(await p.$eval('#lost', (banner) => banner.hidden), true);
  watch.downOnPurpose = false;
  await go('/');
  await press(page, 'button', 'Submit');
  await sees(page, 'One click, one job.');
  await other.close();
});
