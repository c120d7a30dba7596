// The dashboard in a real browser, as the stories (story_*.test.mjs) use it: by what a person reads on the screen.
import assert from 'node:assert/strict';
import { accessibilityFaults } from './chromium.mjs';

// The forms of our tokens, keys and secrets: none is stored, or is in an address or the page.
const SECRET = /eyJ[\w-]{10,}\.|pdb_(live|test|refresh|invite)_[\w-]{20,}|whsec_[\w+/=]{20,}/;

export class Dashboard {
  #judged = new Set();

  // A browser of its own, signed out. `browser`: chromium.mjs. `expected`: what the console may say.
  static async open(browser, url, { expected = /status of (401|404|409|422)/, ...options } = {}) {
    const it = new Dashboard();
    it.page = await browser.page(`${url}/sign-in`, { expected, still: true, ...options });
    return Object.assign(it, { browser, url, expected });
  }
  // Another tab of the same browser.
  async tab(path) {
    const it = new Dashboard();
    const page = await this.browser.follow(await this.page.context().newPage(), this.url, this.expected);
    await page.goto(this.url + path);
    return Object.assign(it, { ...this, page });
  }

  async signIn({ email, password }) {
    await this.page.fill('input[name=email]', email);
    await this.page.fill('input[name=password]', password);
    await this.button('Sign in').click();
    await this.page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  }
  async signUp({ shop, email, password }) {
    await this.page.getByRole('link', { name: 'Create an account' }).click();
    await this.page.fill('input[name=organization]', shop);
    await this.page.fill('input[name=email]', email);
    await this.page.fill('input[name=password]', password);
    await this.judge('the sign-up');
    await this.button('Create account').click();
    await this.page.waitForURL((url) => !url.pathname.startsWith('/sign-'));
  }
  async go(path) {
    await this.page.goto(this.url + path);
    await this.page.locator('h1').first().waitFor();
  }

  button(name, within = this.page) {
    return within.getByRole('button', { name, exact: typeof name === 'string' });
  }
  get dialog() {
    return this.page.getByRole('dialog');
  }
  // Where it stands on the screen, the newest of its kind.
  text(words) {
    return this.page.getByText(words).first();
  }
  sees(words) {
    return this.text(words).waitFor();
  }
  heading(name) {
    return this.page.getByRole('heading', { name }).first().waitFor();
  }
  // A required field has a star behind its name.
  field(label, within = this.page) {
    return within
      .getByLabel(new RegExp(`^${label.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}( \\*)?$`))
      .and(within.locator('input, textarea, select'));
  }
  // The value of a field with a button that copies it.
  async shown(label) {
    return (await this.page.getByRole('group', { name: label, exact: true }).locator('code').textContent()).trim();
  }
  // In the menu behind that button.
  async choose(menu, item) {
    await this.button(menu).first().click();
    await this.page.getByRole('menuitem', { name: item, exact: true }).click();
  }
  // A secret that is shown once: read, stored, and gone with the dialog.
  async takeSecret(title, { stored = 'I have stored it in a safe place' } = {}) {
    await this.dialog.getByText(title).waitFor();
    await this.judge(`the secret of “${title}”`, { secret: true });
    const secret = (await this.dialog.locator('code').first().textContent()).trim();
    await this.dialog.getByLabel(stored).check();
    await this.button('Done', this.dialog).click();
    await this.dialog.waitFor({ state: 'detached' });
    assert.ok(!(await this.page.content()).includes(secret), 'the secret is gone with its dialog');
    return secret;
  }

  // The page, or dialog, as it stands: accessible in light and dark, no wider than the screen, with nothing kept. Once for each name.
  async judge(what, { secret = false } = {}) {
    if (this.#judged.has(what)) return;
    this.#judged.add(what);
    const { page } = this;
    for (const colorScheme of ['light', 'dark']) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
      // An element that fades in has no contrast yet.
      await page.waitForFunction(() =>
        document
          .getAnimations()
          .every((one) => one.playState !== 'running' || one.effect.getComputedTiming().iterations === Infinity),
      );
      const faults = await accessibilityFaults(page, { floating: (await this.dialog.count()) > 0 });
      assert.deepEqual(faults, [], `${what}, ${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: null });
    assert.ok(
      await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth + 1),
      `${what}: no sideways scroll`,
    );
    await this.keepsNothing(what);
    if (!secret) assert.doesNotMatch(await page.content(), SECRET, `${what}: a secret in the page`);
  }
  async keepsNothing(what) {
    const kept = await this.page.evaluate(() =>
      JSON.stringify([Object.entries(localStorage), Object.entries(sessionStorage), document.cookie, location.href]),
    );
    assert.doesNotMatch(kept, SECRET, `${what}: kept ${kept}`);
    // How far each page was scrolled, and nothing else.
    const [session, cookies] = await this.page.evaluate(() => [Object.keys(sessionStorage), document.cookie]);
    assert.deepEqual([session.filter((key) => !key.startsWith('tsr-scroll-restoration')), cookies], [[], ''], what);
  }
}
