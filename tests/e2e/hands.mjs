// A person who uses the keyboard alone. At each stop the focus must be visible, and nothing may cover it.
import assert from 'node:assert/strict';
import { until } from './harness.mjs';

const MOST_STOPS = 250;
const DEADLINE_MS = 20_000;

export class Hands {
  constructor(page) {
    this.page = page;
  }

  // The next stop.
  async tab(key = 'Tab') {
    await this.page.keyboard.press(key);
    const fault = await this.page.evaluate(() => {
      const it = document.activeElement;
      if (!it || it === document.body || it === document.documentElement) return null; // the browser's own controls come between
      const name = `${it.tagName.toLowerCase()} “${(it.getAttribute('aria-label') ?? it.textContent ?? '').trim().slice(0, 40)}”`;
      const around = [
        it,
        it.parentElement,
        it.closest('label'),
        it.nextElementSibling,
        it.parentElement.closest('.mantine-Input-input'),
        it.closest('[class*=Input], [class*=field], [class*=pack]'),
      ].filter(Boolean);
      const ring = around.some((one) => {
        const style = getComputedStyle(one);
        return (
          (style.outlineStyle !== 'none' &&
            parseFloat(style.outlineWidth) >= 1 &&
            !/, 0\)$/.test(style.outlineColor)) ||
          (one.matches('[class*=Input], [class*=field]') && style.boxShadow !== 'none')
        );
      });
      const caret = it.matches('[role=dialog] input[role=combobox]'); // the palette is this field alone
      if (!ring && !caret) return `shows no focus: ${name}`;
      const target = /^(checkbox|radio|file)$/.test(it.type) ? (it.labels?.[0] ?? it) : it;
      const { left, right, top, bottom, width, height } = target.getBoundingClientRect();
      if (width < 1 || height < 1) return `has no size: ${name}`;
      const [x, y] = [
        (Math.max(left, 0) + Math.min(right, innerWidth)) / 2,
        (Math.max(top, 0) + Math.min(bottom, innerHeight)) / 2,
      ];
      if (right <= 0 || bottom <= 0 || left >= innerWidth || top >= innerHeight) return `stands out of sight: ${name}`;
      const at = document.elementFromPoint(x, y);
      return at && (target.contains(at) || at.contains(target) || at.closest('label')?.contains(it))
        ? null
        : `is covered: ${name}`;
    });
    assert.equal(fault, null, `${this.page.url()}: ${fault}`);
  }
  has(wanted) {
    return wanted
      .evaluate((it) => it === document.activeElement || (it.shadowRoot ?? it).contains(document.activeElement))
      .catch(() => false);
  }
  // Goes there stop by stop. Within a menu or a list the arrows do it.
  async to(wanted, { key = 'Tab' } = {}) {
    await wanted.first().waitFor();
    for (let stops = 0; stops < MOST_STOPS; ++stops) {
      if (await this.has(wanted.first())) return;
      await this.tab(key);
    }
    assert.fail(`${this.page.url()}: no key leads to ${wanted}`);
  }
  async act(wanted, key = 'Enter') {
    await this.to(wanted);
    await this.page.keyboard.press(key);
  }
  async write(wanted, text) {
    await this.to(wanted);
    await this.page.keyboard.press('Control+a');
    await this.page.keyboard.type(text);
  }
  // One of a group: Tab leads to the one that is chosen, the arrows to the others.
  async pick(wanted) {
    const group = this.page.locator(`input[type=radio][name="${await wanted.first().getAttribute('name')}"]`);
    for (let stops = 0; stops < MOST_STOPS && !(await this.has(wanted)); ++stops) {
      const within = await group.evaluateAll((all) => all.includes(document.activeElement));
      await this.tab(within ? 'ArrowDown' : 'Tab');
    }
    if (!(await wanted.isChecked())) await this.page.keyboard.press('Space');
    assert.ok(await wanted.isChecked(), `${wanted}`);
  }
  // An entry of a menu that is open.
  async choose(item) {
    await item.first().waitFor();
    await until('the menu has the focus', () =>
      this.page.evaluate(() => document.activeElement?.closest('[role=menu]') !== null),
    );
    for (let stops = 0; stops < 40 && !(await this.has(item.first())); ++stops)
      await this.page.keyboard.press('ArrowDown');
    assert.ok(await this.has(item.first()), `${item} is an entry that the arrows lead to`);
    await this.page.keyboard.press('Enter');
  }
  // Past the navigation, as the first link of each page offers.
  async skip() {
    await this.page.evaluate(() => document.activeElement?.blur?.());
    const link = this.page.getByRole('link', { name: 'Skip to the content' });
    await this.page.keyboard.press('Tab');
    if (!(await this.has(link))) await this.to(link, { key: 'Shift+Tab' });
    await this.page.keyboard.press('Enter');
    await this.page.keyboard.press('Tab');
    assert.ok(
      await this.page.evaluate(() => document.activeElement?.closest('#content') !== null),
      'the link leads past the navigation',
    );
  }
  // The focus is somewhere on the screen, and not at the beginning of the page again: on nothing, or on the link that every page begins with.
  async isSomewhere(after) {
    const isThere = () => {
      const it = document.activeElement;
      return (
        it !== null &&
        it !== document.body &&
        it !== document.documentElement &&
        it.getClientRects().length > 0 &&
        it.getAttribute('href') !== '#content'
      );
    };
    await until(`the focus is somewhere after ${after}`, () => this.page.evaluate(isThere), DEADLINE_MS);
  }
  // A dialog has the focus and keeps it, and gives it back when Escape closes it.
  async isHeldBy(dialog, { closes = true, back } = {}) {
    await dialog.waitFor();
    const inside = () => dialog.evaluate((it) => it.contains(document.activeElement));
    await until('the dialog has the focus', inside, DEADLINE_MS);
    const stops = await dialog.locator('a[href], button, input, select, textarea, [tabindex="0"]').count();
    for (const key of ['Tab', 'Shift+Tab'])
      for (let at = 0; at < Math.min(stops, 12) + 2; ++at) {
        await this.tab(key);
        assert.ok(await inside(), `${key} leads out of the dialog`);
      }
    await this.page.keyboard.press('Escape');
    if (!closes) return assert.ok(await dialog.isVisible(), 'it closes by its own button alone');
    await dialog.waitFor({ state: 'detached', timeout: DEADLINE_MS });
    if (back) await until(`the focus is back at ${back}`, () => this.has(back), DEADLINE_MS);
    else await this.isSomewhere('the dialog');
  }
}
