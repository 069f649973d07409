// Photographs every page of a console with data in it, and every section of
// reports, in light and dark, at the width of a phone and of a desk. For a person
// who changes a page and wants to see all of it; it judges nothing.
//
//   go build -o interlock . && node console/browser/shots.mjs ./interlock shots
//   node console/browser/shots.mjs ./interlock shots report.html other.html
//
// The first form starts a console and fills it: a quick job, a late result, an
// unknown attempt, a text in Malayalam and one in Tamil, a fault, a run. The
// second photographs the named reports only.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {mkdirSync} from 'node:fs';
import {basename, resolve} from 'node:path';
import {createInterface} from 'node:readline';
import {pathToFileURL} from 'node:url';
import {isLive, press, sees, startBrowser} from './stage.mjs';

process.env.CHROMIUM ??= '/usr/bin/chromium';
const [binary, folder, ...reports] = process.argv.slice(2);
if (!folder) {
  console.error('usage: node shots.mjs INTERLOCK FOLDER [REPORT.html...]');
  process.exit(64);
}
mkdirSync(folder, {recursive: true});

const browser = await startBrowser();
const page = await browser.newPage();
page.on('pageerror', (error) => console.error(`script: ${error.message} at ${page.url()}`));
try {
  if (reports.length) for (const file of reports) await report(resolve(file));
  else await overConsole();
} finally {
  await browser.close();
}

// eachLook goes through the widths and schemes, and calls shoot with the name of each.
async function eachLook(shoot) {
  for (const width of [1440, 375]) {
    await page.setViewport({width, height: width === 375 ? 812 : 900});
    for (const scheme of ['light', 'dark']) {
      await page.emulateMediaFeatures([{name: 'prefers-color-scheme', value: scheme}, {name: 'prefers-reduced-motion', value: 'reduce'}]);
      await page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
      await shoot(`${width}-${scheme}`);
    }
    const over = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    if (over > 0) console.error(`${page.url()} is ${over} px wider than ${width}`);
  }
}

async function report(file) {
  await page.setViewport({width: 1440, height: 900});
  await page.goto(pathToFileURL(file).href);
  await page.waitForFunction(() => document.documentElement.dataset.ready);
  const name = basename(file, '.html');
  await eachLook(async (look) => {
    for (const id of await page.$$eval('main section[id]', (list) => list.filter((s) => s.checkVisibility()).map((s) => s.id))) {
      const part = await page.$(`section[id="${id}"]`);
      await part.screenshot({path: `${folder}/${name}-${id}-${look}.png`});
    }
  });
  console.log(`${name}: ${folder}`);
}

async function overConsole() {
  const child = spawn(binary, ['up', '--json', '--no-input', '--port', '0'], {stdio: ['ignore', 'pipe', 'inherit']});
  const gone = once(child, 'exit');
  try {
    const [line] = await Promise.race([once(createInterface({input: child.stdout}), 'line'), gone.then(() => { throw new Error('the console did not start'); })]);
    const {url} = JSON.parse(line);
    await page.setViewport({width: 1440, height: 900});
    await page.goto(url);
    const go = async (path) => {
      await page.goto(new URL(path, url).href);
      await isLive(page);
    };
    const {late, unknown} = await fill(go);
    for (const [name, path] of Object.entries({tour: '/tour', try: '/', jobs: '/jobs', job: late, unknown, providers: '/providers', faults: '/faults', gate: '/gate', races: '/races', runs: '/runs', problem: '/problems/attempt-in-flight', missing: '/jobs/none'})) {
      await page.setViewport({width: 1440, height: 900});
      await go(path);
      if (name === 'gate') {
        await press(page, 'button', 'May it fail over?');
        await page.waitForSelector('#said .answer');
      }
      if (name === 'faults') {
        await page.$eval('.grid section:last-child .ways button', (button) => button.click());
        await sees(page, '1 in place');
      }
      if (name === 'unknown') {
        await press(page, 'button', 'Retry');
        await sees(page, '409 Conflict');
      }
      await eachLook((look) => page.screenshot({path: `${folder}/${name}-${look}.png`, fullPage: true}));
      console.log(`${name}: ${path}`);
    }
  } finally {
    child.kill('SIGINT');
    await gone;
  }
}

// fill makes what there is to see, and returns the paths of a job with a late
// result and of one that waits.
async function fill(go) {
  const submit = async (text, how = 'Submit') => {
    await go('/');
    await page.$eval('#text', (field, value) => { field.value = value; }, text);
    await page.$eval('#deadline', (field) => { field.value = '900'; });
    await press(page, 'button', how);
    await page.waitForSelector('#said .answer');
  };
  await go('/runs');
  await press(page, 'button', 'Run it');
  await page.waitForSelector('#now .head');
  await go('/tour');
  for (const n of [1, 2, 3, 4]) {
    await page.$eval(`#stop${n} input[type=radio]`, (choice) => choice.click());
    await page.$eval(`#stop${n} button.primary`, (button) => button.click());
    await page.waitForFunction((id) => document.querySelector(`#said-${id} .answer`) && !document.querySelector(`#play-${id} .now`), {timeout: 60_000}, n);
  }
  await submit('എൻ്റെ കാർഡിൽ നിന്ന് രണ്ടു തവണ പണം ഈടാക്കി, ദയവായി തിരികെ നൽകൂ.', 'Submit twice');
  await submit('எனது அட்டையில் இரண்டு முறை பணம் எடுக்கப்பட்டது, தயவுசெய்து திருப்பித் தாருங்கள்.');
  await submit('x'.repeat(120), '100 clicks');
  await go('/providers');
  await page.select('#moods-anthropic-demo', 'hostile');
  await page.$eval('#moods-anthropic-demo', (field) => field.form.querySelector('button').click());
  await page.waitForSelector('#said .answer');
  await press(page, 'button', 'Hold calls at openai-demo');
  await sees(page, 'Calls wait for you');
  await submit('I was charged twice, and the provider is silent.');
  await page.waitForSelector('#last tr[data-state="unknown"]');
  const unknown = await page.$eval('#last h2 a', (link) => link.getAttribute('href'));
  await go('/runs');
  await page.waitForFunction(() => document.querySelector('#now .head .badge') && !document.querySelector('#now .state-running'), {timeout: 120_000});
  await go('/races');
  const late = await page.$eval('tr[data-race] a', (link) => link.getAttribute('href'));
  return {late, unknown};
}
