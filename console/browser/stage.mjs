// Starts consoles and a browser for the tests, and keeps watch over everything
// that a page must not do: console errors, dialogs, requests beyond loopback.
import {spawn} from 'node:child_process';
import {once} from 'node:events';
import {createInterface} from 'node:readline';
import puppeteer from 'puppeteer-core';

const binary = process.env.CONSOLE_BINARY; // the Go test binary, which can be a console
const token = process.env.CONSOLE_TOKEN;
const runs = process.env.CONSOLE_RUNS;

export const bound = 15_000; // ends a wait for something that should long have happened

// console starts a console; port 0 takes any.
export async function startConsole(port = 0) {
  const child = spawn(binary, ['console', String(port), token, runs], {stdio: ['ignore', 'pipe', 'inherit']});
  const lines = createInterface({input: child.stdout});
  const first = await Promise.race([once(lines, 'line').then(([line]) => line), once(child, 'exit').then(() => '')]);
  if (!first) throw new Error('the console did not start');
  const url = new URL(first);
  return {
    url: first, base: url.origin, port: Number(url.port),
    async end(signal) {
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
}

// Watch collects what went wrong on any page of a browser.
export class Watch {
  wrong = [];
  downOnPurpose = false; // a server that is down is noticed in the console

  // home is the protocol of the pages, where they come from disk.
  constructor(home) { this.home = home; }

  page(page) {
    page.on('console', (message) => {
      if (message.type() !== 'error' && message.type() !== 'warn') return;
      if (this.downOnPurpose && /ERR_CONNECTION|ERR_EMPTY_RESPONSE|ERR_INCOMPLETE|Failed to fetch/.test(message.text())) return;
      if (/status of 404/.test(message.text()) && /nowhere/.test(message.location().url ?? '')) return; // asked for on purpose
      this.wrong.push(`console: ${message.text()} at ${page.url()}`);
    });
    page.on('pageerror', (error) => this.wrong.push(`script: ${error.message} at ${page.url()}`));
    page.on('dialog', async (dialog) => {
      this.wrong.push(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on('request', (request) => {
      const {hostname, protocol} = new URL(request.url());
      if (this.home ? protocol === this.home && request.isNavigationRequest() || protocol === 'about:' : hostname === '127.0.0.1') return;
      if (protocol !== 'data:' && protocol !== 'blob:') this.wrong.push(`request: ${request.url()}`);
    });
  }
}

export async function startBrowser() {
  return puppeteer.launch({
    executablePath: process.env.CHROMIUM, headless: true,
    // Run as root, Chromium has no sandbox of its own; it opens our own pages only.
    args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage', '--disable-background-networking', '--no-first-run'],
  });
}

// press clicks what has a role and an accessible name. A tab in the background
// draws no frames, so it comes to the front for that.
export async function press(page, role, name) {
  await page.bringToFront();
  await page.locator(`::-p-aria([name="${name}"][role="${role}"])`).setTimeout(bound).click();
}

// sees waits until the page's text holds all of what is wanted.
export async function sees(page, ...texts) {
  for (const text of texts) {
    try {
      await page.waitForFunction((t) => document.querySelector('main').innerText.includes(t), {timeout: bound, polling: 20}, text);
    } catch {
      throw new Error(`the page never says "${text}" but:\n${await page.evaluate(() => document.querySelector('main').innerText)}`);
    }
  }
}

export async function isLive(page) {
  await page.waitForFunction(() => document.querySelector('#link.is-live'), {timeout: bound, polling: 20});
}
