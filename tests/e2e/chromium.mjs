// A real browser for the tests: Debian's Chromium, which ./dev installs, in the build that has no window and is a third faster.
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { chromium } from 'playwright-core';

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export class Browser {
  // Ends with the scope. Every page that it opens is held to: no error in the console, nothing that the policy forbids.
  static async start(scope) {
    const it = new Browser();
    it.problems = [];
    it.chromium = await chromium.launch({
      executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium-headless-shell',
      args: process.getuid() === 0 ? ['--no-sandbox'] : [],
    });
    scope.after(() => it.chromium.close());
    return it;
  }

  // The same program, with a list of problems of its own: for pages that are judged at the same time.
  beside() {
    return Object.assign(new Browser(), { chromium: this.chromium, problems: [] });
  }

  async page(url, { width = 1440, height = 900, scale = 1, dark = false, still = false, expected = /^$/ } = {}) {
    const context = await this.chromium.newContext({
      viewport: { width, height },
      deviceScaleFactor: scale,
      colorScheme: dark ? 'dark' : 'light',
      reducedMotion: still ? 'reduce' : 'no-preference',
      serviceWorkers: 'block',
    });
    const page = await this.follow(await context.newPage(), url, expected);
    await page.goto(url);
    return page;
  }

  // Holds a page to what every page is held to.
  async follow(page, url, expected) {
    page.setDefaultTimeout(20_000);
    await page.addInitScript(() =>
      document.addEventListener('securitypolicyviolation', (event) =>
        console.error(`the policy refuses ${event.violatedDirective} ${event.blockedURI}`),
      ),
    );
    const note = (text) => expected.test(text) || this.problems.push(`${page.url()}: ${text}`);
    page.on('console', (message) => ['error', 'warning'].includes(message.type()) && note(message.text()));
    page.on('pageerror', (error) => note(String(error)));
    page.on(
      'request',
      (request) => new URL(request.url()).origin === new URL(url).origin || note(`asks ${request.url()}`),
    );
    return page;
  }

  isClean() {
    assert.deepEqual(this.problems.splice(0), []);
  }
}

const WCAG = ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa'];

// Waits until nothing moves or fades but what does so for ever: an element that fades in has no colour yet.
export async function motionless(page) {
  await page.waitForFunction(() =>
    document
      .getAnimations()
      .every((one) => one.playState !== 'running' || one.effect.getComputedTiming().iterations === Infinity),
  );
}

// The faults that axe-core finds in the page once nothing in it moves, as sentences. The page's policy forbids no script that the browser's driver adds. `floating`:
// a dialog stands over it, which is in no landmark. `rules`: these alone. Nothing but faults leaves the page: all that axe-core looked at is
// megabytes.
export async function accessibilityFaults(page, { floating = false, within = 'html', rules } = {}) {
  if (!(await page.evaluate(() => 'axe' in window))) await page.evaluate(axe);
  await motionless(page);
  return page.evaluate(
    async ([part, runOnly]) => {
      const { violations } = await window.axe.run(part, { runOnly, resultTypes: ['violations'] });
      return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html.slice(0, 120)).join(' | ')}`);
    },
    [within, rules ?? (floating ? WCAG : [...WCAG, 'best-practice'])],
  );
}
