// A browser that opens pages as a person, brings them into a state, takes pictures and collects what is wrong with them.
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';
import { answer } from './presses.mjs';

const axe = await readFile(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');
const HEIGHTS = { 1440: 900, 1024: 800, 360: 780 };
const WCAG = ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'];
// A page's own reads; not the session's requests, nor those that the frame needs.
const READ = /\/api\/(?!auth\/|version$|account$)/;

export class Eyes {
  findings = [];

  static async open(url, out) {
    const it = new Eyes();
    Object.assign(it, {
      url,
      out,
      browser: await chromium.launch({
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
        args: ['--disable-gpu', ...(process.getuid() === 0 ? ['--no-sandbox'] : [])],
      }),
    });
    return it;
  }
  close() {
    return this.browser.close();
  }

  // A page of its own, signed in with {email, password}, or not.
  async visitor({ scheme, width, sign }) {
    const context = await this.browser.newContext({
      colorScheme: scheme,
      viewport: { width, height: HEIGHTS[width] ?? 800 },
      deviceScaleFactor: width < 500 ? 2 : 1.5,
      reducedMotion: 'reduce',
      timezoneId: 'Europe/Berlin',
      locale: 'en-GB',
    });
    await context.addInitScript(() => {
      window.refused = [];
      document.addEventListener('securitypolicyviolation', (event) =>
        window.refused.push(`${event.violatedDirective} ${event.blockedURI} ${event.sample}`),
      );
    });
    context.setDefaultNavigationTimeout(60_000);
    const page = await context.newPage();
    page.label = `${scheme} ${width}`;
    page.on('pageerror', (error) => this.findings.push(`${page.label}: ${error.message}`));
    page.on('console', (message) => {
      if (message.type() !== 'error' || page.troubled) return;
      if (/status of (401|404|409|422)/.test(message.text()) || page.expected?.test(message.text())) return;
      this.findings.push(`${page.label}: console: ${message.text()}`);
    });
    if (sign) {
      await page.goto(`${this.url}/sign-in`);
      await page.fill('input[name=email]', sign.email);
      await page.fill('input[name=password]', sign.password);
      await page.click('button[type=submit]');
      await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
    }
    page.setDefaultTimeout(12_000);
    page.setDefaultNavigationTimeout(60_000);
    return page;
  }

  async settle(page) {
    await page.waitForLoadState('load');
    await page
      .waitForFunction(() => !document.querySelector('[aria-busy=true]') && document.querySelector('h1'), null, {
        timeout: 8_000,
      })
      .catch(() => {
        if (page.troubled !== 'loading') this.findings.push(`${page.label}: still busy after 8 s`);
      });
    await page.waitForTimeout(250);
  }

  // Opens the page at the address, with its reads in the state. `answers`: the service's answers that are replaced (presses.mjs).
  async go(page, address, state, answers) {
    await page.unrouteAll({ behavior: 'ignoreErrors' });
    await answer(page, answers);
    // The same address again, or another part behind its #, would not load it anew.
    if (page.url().split('#')[0] === (this.url + address).split('#')[0]) await page.goto('about:blank');
    await page.context().setOffline(false);
    page.troubled = state;
    const troubled = (route) =>
      state === 'loading'
        ? undefined
        : route.fulfill({
            status: 500,
            headers: { 'x-request-id': 'req_0a1b2c3d4e5f6' },
            json: { error: { code: 'INTERNAL_ERROR', message: 'A fault of this service.' } },
          });
    if (state === 'loading' || state === 'error') await page.route(READ, troubled);
    if (state === 'stale' || state === 'offline') await page.clock.install();
    await page.goto(this.url + address);
    if (state === 'loading') {
      await page.waitForSelector('h1, [aria-busy=true], main');
      await page.waitForTimeout(600);
      return;
    }
    await this.settle(page);
    if (state !== 'stale' && state !== 'offline') return;
    if (state === 'offline') {
      await page.unrouteAll({ behavior: 'ignoreErrors' });
      await page.context().setOffline(true);
    } else await page.route(READ, troubled);
    // Every read is old then, and is repeated when the page becomes visible again.
    await page.clock.fastForward(600_000);
    await page.evaluate(() => document.dispatchEvent(new Event('visibilitychange')));
    await page.clock.runFor(5_000);
    await page.waitForTimeout(400);
    if (state === 'stale' && !page.framed && !(await page.getByText(/This is from|No connection/).count()))
      this.findings.push(`${page.label}: does not say that it is old`);
  }

  // A picture of the page on a screen that is higher than most, as WebP.
  async compressed(page, name) {
    const { width } = page.viewportSize();
    await page.setViewportSize({ width, height: width < 500 ? 844 : 1200 });
    await page.waitForTimeout(400);
    const session = await page.context().newCDPSession(page);
    const { data } = await session.send('Page.captureScreenshot', { format: 'webp', quality: 76 });
    await session.detach();
    await writeFile(path.join(this.out, `${name}.webp`), Buffer.from(data, 'base64'));
  }

  async picture(page, name, { whole = true } = {}) {
    await page.screenshot({ path: path.join(this.out, `${name}.png`), fullPage: whole });
  }

  async judge(page, name, { whole = true } = {}) {
    // Through the debugger's own world: the policy of the page refuses an added script. Floating menus and dialogs are outside of all landmarks.
    const session = await page.context().newCDPSession(page);
    await session.send('Runtime.evaluate', { expression: axe });
    const rules = JSON.stringify(whole ? [...WCAG, 'best-practice'] : WCAG);
    const { result } = await session.send('Runtime.evaluate', {
      expression: `axe.run(document,{runOnly:${rules},resultTypes:['violations']}).then(r=>JSON.stringify(r.violations.map(v=>v.id+': '+v.help+' | '+v.nodes.slice(0,3).map(n=>n.target.join(' ')+' '+(n.any[0]?.message??'')).join(' || '))))`,
      awaitPromise: true,
      returnByValue: true,
    });
    for (const violation of JSON.parse(result.value)) this.findings.push(`${name}: axe ${violation}`);
    for (const refused of await page.evaluate(() => window.refused.splice(0)))
      this.findings.push(`${name}: refused by the policy: ${refused}`);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
    if (wide > 1) this.findings.push(`${name}: ${wide} px wider than the screen`);
    await session.detach();
  }
}
