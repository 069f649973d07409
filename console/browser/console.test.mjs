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

  // tabTo presses Tab until the element that has the focus is the one wanted.
  async function tabTo(wanted, want) {
    for (let i = 0; i < 60; i++) {
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
  const injected = await page.$$eval('main img, main script', (list) => list.length);
  assert.equal(injected, 0);
  const said = await page.evaluate(() => document.querySelector('main').innerText);
  assert.ok(!/[\u202a-\u202e\u2066-\u2069\u001b]/.test(said), 'a direction or control character reaches the page');
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
    await page.evaluate(axe);
    for (const width of [1440, 375]) {
      await page.setViewport({width, height: 800});
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}, {name: 'prefers-reduced-motion', value: 'reduce'}]);
        const broken = await page.evaluate(async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`));
        assert.deepEqual(broken, [], `${path} in ${scheme} at ${width}`);
      }
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${path} is ${over} px wider than ${width}`);
    }
    await page.setViewport({width: 1440, height: 900});
    await page.evaluate(() => { document.documentElement.style.fontSize = '200%'; });
    const large = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(large <= 0, `${path} is ${large} px too wide with text of twice the size`);
  }
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
