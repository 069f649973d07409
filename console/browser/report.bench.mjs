// Measures report.html in headless Chromium and prints the figures beside their
// budgets. It judges nothing: a busy machine measures itself.
//
//   mkdir pages && go test ./harness/report -run 'Megabyte|KeptWhole' -args -pages "$PWD/pages"
//   node console/browser/report.bench.mjs "$PWD/pages"
import {statSync} from 'node:fs';
import puppeteer from 'puppeteer-core';

const folder = process.argv[2];
const executablePath = process.env.CHROMIUM ?? '/usr/bin/chromium';
const browser = await puppeteer.launch({executablePath, headless: true, args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage']});
const at = (list, q) => [...list].sort((a, b) => a - b)[Math.min(list.length - 1, Math.floor(list.length * q))];

for (const [name, budget] of [['standard.html', '1000 kB, drawn 300 ms, frames p99 16 ms'], ['ten-thousand.html', 'drawn 300 ms, frames p99 16 ms'], ['hundred-thousand.html', 'drawn 600 ms, frames p99 25 ms']]) {
  const drawn = [], paint = [], frames = [], draws = [];
  for (let run = 0; run < 5; run++) {
    const page = await browser.newPage();
    await page.setViewport({width: 1440, height: 900});
    await page.evaluateOnNewDocument(() => {
      new MutationObserver((_, o) => { // the first frame after the lanes are there
        if (document.documentElement.dataset.ready) { o.disconnect(); requestAnimationFrame(() => setTimeout(() => { window.drawnAt = performance.now(); })); }
      }).observe(document, {attributes: true, subtree: true});
    });
    await page.goto(`file://${folder}/${name}`);
    await page.waitForFunction(() => window.drawnAt);
    drawn.push(await page.evaluate(() => window.drawnAt));
    paint.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? NaN));
    draws.push(await page.evaluate(() => { // draws 300 times, ten steps in and ten out by turns
      const {lanes} = document.querySelector('#explorer canvas'), times = [];
      for (let i = 0; i < 300; i++) {
        lanes.key(i % 20 < 10 ? '+' : '-');
        const t = performance.now();
        lanes.draw();
        times.push(performance.now() - t);
      }
      lanes.key('0');
      return times.sort((a, b) => a - b)[297];
    }));
    await page.$eval('#explorer canvas', (c) => c.scrollIntoView());
    frames.push(...await page.evaluate(() => new Promise((done) => { // wheel in and out, one event a frame
      const canvas = document.querySelector('#explorer canvas'), gaps = [], r = canvas.getBoundingClientRect();
      let last = 0, n = 0;
      const step = (now) => {
        if (last) gaps.push(now - last);
        last = now;
        canvas.dispatchEvent(new WheelEvent('wheel', {deltaY: n % 120 < 60 ? -60 : 60, clientX: r.left + r.width / 2, clientY: r.top + 50, bubbles: true, cancelable: true}));
        if (++n < 240) requestAnimationFrame(step); else done(gaps);
      };
      requestAnimationFrame(step);
    })));
    await page.close();
  }
  const f = (x) => x.toFixed(1);
  console.log(`${name}: ${Math.round(statSync(`${folder}/${name}`).size / 1000)} kB; first paint ${f(at(paint, .5))} ms, drawn ${f(at(drawn, .5))} ms (worst ${f(at(drawn, 1))}); drawing p99 ${f(at(draws, .5))} ms; frames p50 ${f(at(frames, .5))}, p99 ${f(at(frames, .99))} ms  [budget: ${budget}]`);
}
await browser.close();
