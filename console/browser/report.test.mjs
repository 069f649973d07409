// What a person does with report.html, opened from disk in headless Chromium. Every
// test fails on a console error, a dialog or a request to anything but the page.
import assert from 'node:assert/strict';
import {readFileSync} from 'node:fs';
import {createRequire} from 'node:module';
import {after, afterEach, before, test} from 'node:test';
import {Watch, bound, startBrowser} from './stage.mjs';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const folder = 'file://' + process.env.PAGES + '/';
const watch = new Watch('file:');
let browser, page;

before(async () => {
  browser = await startBrowser();
  page = await browser.newPage();
  watch.page(page);
  await page.setViewport({width: 1440, height: 900});
  await page.emulateMediaFeatures([{name: 'prefers-reduced-motion', value: 'reduce'}]); // a click hits what has stopped moving
});

after(() => browser?.close());

afterEach(() => assert.deepEqual(watch.wrong.splice(0), []));

// show opens a page anew and waits until its lanes are drawn.
async function show(name, fragment = '') {
  await page.goto('about:blank');
  await page.goto(folder + name + fragment);
  await page.waitForFunction(() => document.documentElement.dataset.ready, {timeout: bound, polling: 20});
}

const scenario = () => page.$eval('#lanes-name', (e) => e.textContent);
const fragment = () => page.evaluate(() => new URLSearchParams(location.hash.slice(1)).toString());
const said = () => page.$eval('#message', (e) => (e.hidden ? '' : e.textContent));

test('it opens at the violation, with its lanes and the same facts as a table', async () => {
  await show('full.html');
  assert.equal(await scenario(), '✗ reverse-order');
  const rows = await page.$$eval('#explorer .list tbody tr', (list) => list.map((r) => r.textContent));
  assert.ok(rows.length > 10 && rows.some((r) => r.includes('✗ here')), 'the table shows where the rule broke');
  const inked = await page.$eval('#explorer canvas', (c) => new Set(c.getContext('2d').getImageData(0, 0, c.width, c.height).data).size);
  assert.ok(inked > 20, 'the lanes are drawn');
});

test('a link leads to a scenario, a time and a stretch; one that leads nowhere says so', async () => {
  await show('full.html', '#s=double-click&t=0');
  assert.equal(await scenario(), '✓ double-click');
  assert.match(await page.$eval('#explorer .detail', (e) => e.textContent), /event \d+/);
  await show('full.html', '#s=reverse-order&z=0-1&q=reverse');
  assert.match(await fragment(), /z=0-1/);
  assert.equal(await page.$$eval('#scenario-table tbody tr:not([hidden])', (l) => l.length), 1);
  for (const [link, words] of [['#s=nothing', 'no scenario called “nothing”'], ['#nowhere', 'no part called “nowhere”'], ['#s=%3Cimg%20src=x%3E', 'no scenario called “<img src=x>”']]) {
    await show('full.html', link);
    assert.ok((await said()).includes(words), link);
  }
});

test('the keys go through scenarios, violations and events', async () => {
  await show('full.html');
  const first = await scenario();
  await page.keyboard.press('j');
  assert.notEqual(await scenario(), first);
  await page.keyboard.press('k');
  assert.equal(await scenario(), first);
  await page.keyboard.press('n');
  assert.match(await scenario(), /^[✗?!]/);
  await page.keyboard.press('p');
  assert.equal(await scenario(), first);
  await page.keyboard.press(']');
  assert.ok(await page.$('#explorer tr[aria-selected="true"]'), 'an event is selected');
  const before = await fragment();
  await page.keyboard.press(']');
  await page.keyboard.press('+');
  await page.waitForFunction((was) => location.hash.includes('z=') && location.hash.slice(1) !== was, {timeout: bound, polling: 20}, before);
  await page.keyboard.press('0');
  await page.waitForFunction(() => !location.hash.includes('z='), {timeout: bound, polling: 20});
  await page.keyboard.press('f');
  assert.equal(await page.evaluate(() => document.activeElement.id), 'filter');
  await page.keyboard.press('Escape');
  await page.keyboard.press('?');
  assert.ok(await page.$eval('#keys', (d) => d.open));
  await page.keyboard.press('Escape');
  assert.ok(!(await page.$eval('#keys', (d) => d.open)));
});

test('the filter and the verdicts choose the rows', async () => {
  await show('full.html');
  const shown = () => page.$$eval('#scenario-table tbody tr:not([hidden])', (l) => l.length);
  const all = await shown();
  await page.locator('button[data-verdict="pass"]').setTimeout(bound).click();
  assert.ok(await shown() < all);
  assert.match(await page.$eval('#filter-note', (e) => e.textContent), /of \d+ scenarios are shown/);
});

test('another run is read from its file and put beside this one', async () => {
  await show('full.html');
  const input = await page.$('#another');
  await input.uploadFile(process.env.PAGES + '/before.json');
  await page.waitForFunction(() => document.querySelector('#compared tbody tr'), {timeout: bound, polling: 20});
  const text = await page.$eval('#compared', (e) => e.innerText.replaceAll('\t', ' '));
  assert.match(text, /Beside before\.json \(seed 7\): 3 changed/);
  assert.match(text, /reverse-order ✓ pass ✗ violation I/);
  assert.match(text, /<b>gone<\/b> ✓ pass – not played/);
  await input.uploadFile(process.env.PAGES + '/full.html');
  await page.waitForFunction(() => document.querySelector('#compared').innerText.includes('is no report.json'), {timeout: bound, polling: 20});
});

test('two plays stand beside each other', async () => {
  await show('full.html');
  const name = await page.$eval('#pick-compare', (s) => s.options[1].value);
  await page.select('#pick-compare', name);
  assert.equal((await page.$$('#explorer canvas')).length, 2);
});

test('on paper every violation is open, with its lanes as a picture and a table', async () => {
  await show('full.html');
  const pdf = await page.pdf({format: 'A4'});
  assert.ok(pdf.length > 50_000 && pdf.length < 2_000_000, `${pdf.length} bytes`);
  await page.emulateMediaType('print');
  await page.evaluate(() => dispatchEvent(new Event('beforeprint')));
  const figures = await page.$$eval('#print figure', (l) => l.map((f) => [f.querySelector('img').naturalWidth > 500, f.querySelectorAll('tbody tr').length > 0]));
  assert.ok(figures.length > 0 && figures.flat().every(Boolean));
  await page.evaluate(() => dispatchEvent(new Event('afterprint')));
  await page.emulateMediaType(null);
});

test('no part breaks a rule of accessibility, in light and dark, on a phone and a desk', async () => {
  for (const name of ['full.html', 'sheet.html']) {
    for (const width of [1440, 375]) {
      await page.setViewport({width, height: 900});
      await show(name);
      await page.evaluate(axe);
      for (const scheme of ['light', 'dark']) {
        await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}, {name: 'prefers-reduced-motion', value: 'reduce'}]);
        const broken = await page.evaluate(async () => (await axe.run(document, {resultTypes: ['violations'], preload: false})).violations.map((v) => `${v.id}: ${v.nodes[0].html} ${v.nodes[0].failureSummary}`));
        assert.deepEqual(broken, [], `${name} in ${scheme} at ${width}`);
      }
      const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
      assert.ok(over <= 0, `${name} is ${over} px wider than ${width}`);
    }
  }
  await page.setViewport({width: 1440, height: 900});
});

test('hostile text stays text', async () => {
  for (const name of process.env.HOSTILE.split(' ')) {
    await show(name);
    assert.equal(await page.$$eval('main img, main script, main iframe', (l) => l.length), 0);
  }
});
