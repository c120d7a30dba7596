// A person's acts on a page, in the notation of pages.mjs.

// A name, or a pattern of one: /…/. The pseudo-locale (build/pseudo_locale.ts) has letters of its own, and marks around and in the words.
const LETTERS = { a: 'aá', e: 'eé', i: 'ií', o: 'oó', u: 'uú', n: 'nñ', c: 'cç', s: 'sš', A: 'AÁ', E: 'EÉ' };
const disguised = (name) =>
  [...name]
    .map(
      (letter) => `[⟦⟧~]*${LETTERS[letter] ? `[${LETTERS[letter]}]` : letter.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`,
    )
    .join('');
function nameOf(name, pseudo) {
  const [, begins, pattern, ends] = /^\/(\^?)(.*?)(\$?)\/$/.exec(name) ?? [];
  if (!pseudo) return pattern === undefined ? name : new RegExp(`${begins}${pattern}${ends}`);
  if (pattern === undefined) return new RegExp(`^${disguised(name)}[⟦⟧~]*$`);
  return new RegExp(`${begins}${disguised(pattern.replaceAll('\\d', '')).trimEnd()}`);
}

const OPEN = '[role=dialog], [role=menu]';

// In the page: the titles of its dialogs, or whether they are others than `before`.
const titles = (before) => {
  const now = [...document.querySelectorAll('[role=dialog]')]
    .map((one) => one.querySelector('h2')?.textContent ?? one.getAttribute('aria-label'))
    .join('\n');
  return before === null ? now : now !== before;
};

// `stays`: the last press opens nothing; `floats`: it opens a list. A dialog may have to be loaded first. The entry of a menu is gone once
// it is chosen, and a button of a dialog leads to another dialog.
export async function press(page, presses, { pseudo = false, stays = false, floats = false, pause = 200 } = {}) {
  for (const one of presses) {
    const [what, ...rest] = one.split(':');
    const words = rest.join(':');
    const [label, ...text] = words.split('=');
    if (what === 'key') await page.keyboard.press(words);
    else if (what === 'type') {
      await page.locator('input:focus').waitFor();
      await page.keyboard.type(words);
    } else if (what === 'file')
      await page
        .locator('input[type=file]')
        .first()
        .setInputFiles({ name: 'table.csv', mimeType: 'text/csv', buffer: Buffer.from(text.join('=')) });
    else if (what === 'fill')
      await page
        .getByLabel(nameOf(pseudo && !label.startsWith('/') ? `/^${label}/` : label, pseudo))
        .and(page.locator('input:not([type=radio], [type=checkbox]), textarea'))
        .first()
        .fill(text.join('='));
    else {
      // The last button of that name is in the dialog that the press before opened.
      const last = words.endsWith(':last');
      const where = last ? page.getByRole('dialog').last() : page;
      const found = where.getByRole(what, { name: nameOf(words.replace(/:last$/, ''), pseudo) });
      const wanted = last ? found.last() : found.first();
      const ofDialog = await wanted.evaluate((it) => it.closest('[role=dialog]') !== null);
      const before = await page.evaluate(titles, null);
      await wanted.click();
      if (what === 'menuitem') await wanted.waitFor({ state: 'hidden' });
      else if (ofDialog) await page.waitForFunction(titles, before);
    }
    await page.waitForTimeout(pause);
  }
  if (floats) await page.getByRole('listbox').first().waitFor();
  if (!stays) await page.locator(OPEN).first().waitFor();
}

// Replaces answers of the service, by "METHOD /path", or "METHOD /path/*" for all below it: with an error as [status, code, headers], or by a
// function of the real answer. Until page.unrouteAll() ends it.
export async function answer(page, answers = {}) {
  for (const [asked, said] of Object.entries(answers)) {
    const [method, path] = asked.split(' ');
    await page.route(
      ({ pathname }) => (path.endsWith('*') ? pathname.startsWith(path.slice(0, -1)) : pathname === path),
      async (route) => {
        if (route.request().method() !== method) return route.fallback();
        if (Array.isArray(said)) {
          const [status, code, headers] = said;
          return route.fulfill({ status, headers, json: { error: { code, message: `As ${code}.` } } });
        }
        const response = await route.fetch();
        return route.fulfill({ response, json: said(await response.json()) });
      },
    );
  }
}
