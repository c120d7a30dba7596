// Every page and dialog (web/tools/pages.mjs), on the demonstration's data, in a real browser: accessible in light and dark, whole where the
// system chooses the colours and where it is magnified to 400 %, and without a word that is not of the catalogue; each time without an error in
// the console, anything that the page's policy refuses, or a request to another origin.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { promisify } from 'node:util';
import { demonstration } from '../../web/tools/demonstration.mjs';
import { pages } from '../../web/tools/pages.mjs';
import { answer, press } from '../../web/tools/presses.mjs';
import { Browser, accessibilityFaults, motionless } from './chromium.mjs';
import { Scope, scratch } from './harness.mjs';
import { addData, bareStrings, forcedColourFaults, magnifiedFaults } from './page_checks.mjs';

const WEB = path.resolve(import.meta.dirname, '../../web');
const LANES = 3; // pages at a time
const READ_MS = 5_000; // that an answer takes to be read
const FRESH_MS = 5 * 60_000; // a sign-in of ten minutes ago has to be confirmed before some of what is pressed
const REFUSED = /status of (401|403|404|409|422)/;
const scope = new Scope({ after });
let browser, place, pseudo;
const texts = {}; // of the pseudo-locale, by their keys
const opened = new Set(); // the titles of dialogs, in the pseudo-locale
const openedNarrow = new Set(); // in English
const CATALOGUE = readdirSync(path.join(WEB, 'src/i18n/en'))
  .map((file) => readFileSync(path.join(WEB, 'src/i18n/en', file), 'utf8'))
  .join('\n');
const english = (key) => new RegExp(`'${key.replaceAll('.', '\\.')}':\\s*'([^']*)'`).exec(CATALOGUE)?.[1];
const titlesOfDialogs = (page) =>
  page
    .locator('[role=dialog]')
    .evaluateAll((all) => all.map((one) => one.querySelector('h2')?.textContent ?? one.getAttribute('aria-label')));

before(async () => {
  place = await demonstration();
  scope.after(() => place.close());
  browser = await Browser.start(scope);
  pseudo = await scratch(scope);
  await promisify(execFile)(
    process.execPath,
    [
      path.join(WEB, 'node_modules/vite/bin/vite.js'),
      'build',
      '--mode',
      'pseudo',
      '--logLevel',
      'error',
      '--outDir',
      pseudo,
      '--emptyOutDir',
    ],
    { cwd: WEB },
  );
});

// Files of that build in the place of the service's own.
const TYPES = {
  '.html': 'text/html',
  '.js': 'text/javascript',
  '.css': 'text/css',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
// For all pages of the context, as long as it lives: a request that is under way while the last route ends may hang.
async function inPseudoLocale(context) {
  await context.route(
    ({ pathname }) => !/^\/(api|docs)\//.test(pathname),
    (route) => {
      const { pathname } = new URL(route.request().url());
      const asked = path.join(pseudo, pathname);
      const file =
        /\.\w+$/.test(asked) && existsSync(asked)
          ? asked
          : path.join(pseudo, pathname === '/p' ? 'p.html' : 'index.html');
      return route.fulfill({ body: readFileSync(file), contentType: TYPES[path.extname(file)] });
    },
  );
}

async function settled(page) {
  await page.waitForFunction(
    () => document.querySelector('h1, [role=dialog]') && !document.querySelector('[aria-busy=true]'),
  );
  await motionless(page);
}
// Opens each page, several at a time, and returns all findings of judge(page, its entry in pages.mjs).
// `begin(page)`: once for each page of the browser; `prepare(page)`: before each address.
async function atEach(
  judge,
  { among = () => true, screen = {}, begin = async () => {}, prepare = () => {}, speaks = {} } = {},
) {
  const left = pages.filter(among);
  const findings = [];
  const lane = async () => {
    const own = browser.beside();
    let who, page, signedInAt;
    while (left.length > 0) {
      const it = left.splice(
        Math.max(
          left.findIndex(({ as = 'sam' }) => as === who),
          0,
        ),
        1,
      )[0];
      if (who !== (it.as ?? 'sam') || performance.now() > signedInAt + FRESH_MS) {
        await page?.context().close();
        who = it.as ?? 'sam';
        signedInAt = performance.now();
        page = await own.page(`${place.url}/icon.svg`, { still: true, expected: REFUSED, ...screen });
        page.setDefaultTimeout(60_000); // several at a time, on a busy machine
        page.on('dialog', (asks) => asks.accept()); // to leave what was not saved
        await begin(page);
        prepare(page);
        await page.goto(`${place.url}/sign-in`);
        if (who !== 'nobody') {
          await page.fill('input[name=email]', place.signs[who].email);
          await page.fill('input[name=password]', place.signs[who].password);
          await page.click('button[type=submit]');
          await page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
          await settled(page); // it may go on to the guide
        }
      }
      try {
        await page.unrouteAll({ behavior: 'ignoreErrors' });
        prepare(page);
        await answer(page, it.answers);
        // An address that differs behind the # alone would not be loaded. about:blank would cost a new process of the browser.
        await page.goto(`${place.url}/icon.svg`);
        await page.goto(place.url + (typeof it.path === 'string' ? it.path : it.path(place.made)));
        await settled(page);
        await answer(page, it.later);
        if (it.presses) await press(page, it.presses, { stays: it.stays, floats: it.floats, ...speaks });
        await settled(page);
        findings.push(...(await judge(page, it)).map((one) => `${it.name}: ${one}`));
      } catch (error) {
        findings.push(`${it.name}: ${error.message.split('\n').slice(0, 3).join(' ')}`);
      }
      const problems = own.problems.splice(0).filter((one) => !it.expected?.test(one));
      findings.push(...problems.map((one) => `${it.name}: ${one}`));
      // Who was signed out meanwhile is somebody else from then on.
      if (it.later) who = undefined;
    }
    await page?.context().close();
  };
  await Promise.all(Array.from({ length: LANES }, lane));
  return findings;
}
const wide = ({ narrow }) => !narrow;

test('is accessible in light and dark, and whole where the system chooses the colours', async () => {
  const found = await atEach(
    async (page, { presses, stays, floats }) => {
      const faults = await accessibilityFaults(page, { floating: Boolean(presses && !stays) || floats });
      await page.emulateMedia({ colorScheme: 'dark' });
      await settled(page);
      faults.push(
        ...(await accessibilityFaults(page, { rules: ['color-contrast', 'link-in-text-block'] })).map(
          (one) => `dark: ${one}`,
        ),
      );
      await page.emulateMedia({ colorScheme: 'light' });
      return [...faults, ...(await forcedColourFaults(page)).map((one) => `forced colours, ${one}`)];
    },
    { among: wide },
  );
  assert.deepEqual(found, []);
});

test('is whole at 400 %', async () => {
  const judge = async (page) => {
    for (const title of await titlesOfDialogs(page)) openedNarrow.add(title);
    return magnifiedFaults(page);
  };
  const found = await atEach(judge, {
    among: ({ wide: needsRoom }) => !needsRoom,
    screen: { width: 320, height: 256, scale: 4 },
  });
  assert.deepEqual(found, []);
});

test('says nothing that is not of the catalogue', async () => {
  const data = new Set();
  // An answer for which the page does not wait any more has no body to read, and no event reports its end.
  const read = async (response) =>
    addData(
      data,
      await response
        .finished()
        .then((broken) => (broken ? null : response.json()))
        .catch(() => null),
    );
  const readings = new Map(); // by page: the answers that it may show already
  const found = await atEach(
    async (page) => {
      for (const title of await titlesOfDialogs(page)) opened.add(title);
      Object.assign(texts, await page.evaluate(() => globalThis.pseudoTexts));
      await Promise.race([Promise.all(readings.get(page)), delay(READ_MS)]);
      return bareStrings(page, data);
    },
    {
      among: wide,
      speaks: { pseudo: true },
      begin: (page) => {
        page.on('response', (response) => {
          const isAnswer =
            new URL(response.url()).pathname.startsWith('/api/') &&
            response.headers()['content-type']?.includes('json');
          if (isAnswer) readings.get(page).push(read(response));
        });
        return inPseudoLocale(page.context());
      },
      prepare: (page) => readings.set(page, []),
    },
  );
  assert.deepEqual(found, []);
});
// Dialogs that no page here opens. Other tests open them, and find them by their titles.
const ELSEWHERE = {
  'bulk.failures': '../../web/src/pages/deliveries/bulk/bulk.test.tsx',
  'newWebhook.secret': 'story_first_delivery.test.mjs',
  'people.member.own': 'story_people.test.mjs',
  'requests.orders.title': 'story_people.test.mjs',
  'webhook.rotated': 'story_access.test.mjs',
};
// The demonstration has no cause for it: a username that is corrected after a part was shared.
const NOT_ASKED = new Set(['confirm.retryShared.title']);
test('leaves no dialog out', () => {
  const wanted = new Set();
  for (const file of readdirSync(path.join(WEB, 'src'), { recursive: true }).filter(
    (name) => /\.tsx$/.test(name) && !/\.test\./.test(name),
  )) {
    const source = readFileSync(path.join(WEB, 'src', file), 'utf8');
    for (const [, rest] of source.matchAll(/<(?:Modal|Drawer|Dialog|ConfirmDialog|SecretOnce)\b((?:[^>]|=>)*)/g)) {
      const [, title = ''] = /\btitle=\{((?:[^{}]|\{(?:[^{}]|\{[^{}]*\})*\})*)\}/.exec(rest) ?? [];
      for (const [, key] of title.matchAll(/'([a-z]\w*(?:\.\w+)+)'/g)) wanted.add(key);
    }
  }
  assert.ok(wanted.size > 30, `${wanted.size} dialogs`);
  const isOpened = (key) =>
    (texts[key] ?? []).some((form) => {
      const pattern = new RegExp(
        `^${form
          .split(/\{\w+\}/)
          .map((part) => part.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))
          .join('.*')}$`,
      );
      return [...opened].some((title) => pattern.test(title));
    });
  const isOpenedNarrow = (key) => openedNarrow.has(english(key));
  assert.deepEqual(
    [...wanted].filter((key) => !(key in ELSEWHERE) && !NOT_ASKED.has(key) && !isOpened(key) && !isOpenedNarrow(key)),
    [],
  );
  const isNamed = (key) =>
    english(key) && readFileSync(path.join(import.meta.dirname, ELSEWHERE[key]), 'utf8').includes(`'${english(key)}'`);
  assert.deepEqual(
    Object.keys(ELSEWHERE).filter((key) => !wanted.has(key) || !isNamed(key)),
    [],
  );
});
