// All that the dashboard is for, by the keyboard alone, in a real browser on the demonstration's data: the first evening, each way to solve
// a failed delivery, tables and many at once, every dialog and menu, and the buyer's page.
import assert from 'node:assert/strict';
import { after, afterEach, before, describe, test } from 'node:test';
import { run } from '../../demo/programs.mjs';
import { demonstration } from '../../web/tools/demonstration.mjs';
import { pages } from '../../web/tools/pages.mjs';
import { answer } from '../../web/tools/presses.mjs';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Hands } from './hands.mjs';
import { Client, Scope, until } from './harness.mjs';
import { PASSWORD, isOk } from './merchant.mjs';
import { sampleOrder, sendOrder } from './orders.mjs';

const scope = new Scope({ after });
let browser, place, story, made, me, hands;

before(async () => {
  place = await demonstration({ pace: ['--delivery-jobs-per-minute', '0', '--delivery-first-sweep-seconds', '1'] });
  scope.after(() => place.close());
  ({ story, made } = place);
  browser = await Browser.start(scope);
});
afterEach(() => browser.isClean());

const cloud = (method, target, body) => story.past.must('cloud', method, target, body);
const agrees = (username) => cloud('POST', '/sim/customers', { username, userId: `u-${username}`, answer: 'accept' });
const delivery = (id) => story.merchant((api) => api('GET', `/api/deliveries/${id}`));
async function signedIn({ email, password }) {
  const it = await Dashboard.open(browser, place.url, { expected: /status of (401|403|404|409|422)/ });
  const its = new Hands(it.page);
  await its.write(it.page.locator('input[name=email]'), email);
  await its.write(it.page.locator('input[name=password]'), password);
  await it.page.keyboard.press('Enter');
  await it.page.waitForURL((url) => !url.pathname.startsWith('/sign-in'));
  return [it, its];
}
const link = (name, of = me) => of.page.getByRole('link', { name, exact: typeof name === 'string' });

describe('the first evening', () => {
  const login = { email: 'keys@cloud.example', password: 'keys at the cloud' };
  let it, its, shop;
  const open = () => new Client(place.url);
  const ordered = (orderId) =>
    sendOrder(open(), shop, { orderId, targetUsername: 'found_it', items: [{ sku: 'LEAD', title: 'A lead tone' }] });

  test('signing up', async () => {
    await cloud('POST', '/sim/merchants', {
      userId: 'm-keys',
      username: 'keys_only',
      ...login,
      files: [{ id: 'lead-9', name: 'Lead Nine' }],
    });
    await agrees('found_it');
    it = await Dashboard.open(browser, place.url);
    its = new Hands(it.page);
    await its.act(link('Create an account', it));
    await its.write(it.page.locator('input[name=organization]'), 'Keys Only');
    await its.write(it.page.locator('input[name=email]'), 'keys@shop.example');
    await its.write(it.page.locator('input[name=password]'), PASSWORD);
    await its.act(it.button('Create account'));
    await it.page.waitForURL('**/start');
    await its.isSomewhere('the sign-up');
  });
  test('the cloud login and a store', async () => {
    await its.write(it.field('E-mail at the cloud platform'), login.email);
    await its.write(it.field('Password at the cloud platform'), login.password);
    await it.page.keyboard.press('Enter');
    await it.sees('Where do you sell?');
    await its.isSomewhere('the cloud login');
    await its.pick(it.page.getByRole('radio', { name: /Your own website/ }));
    await its.write(it.page.getByLabel('What do you call it?'), 'keys.example');
    await its.act(it.button('Create store'));
    await it.sees('Listening for your first order');
    await its.isSomewhere('the store');
    const url = await it.shown('Webhook URL');
    shop = { id: url.split('/').at(-1), provider: 'generic', secret: await it.shown('Signing secret') };
    await its.pick(it.page.getByRole('checkbox', { name: 'I have stored it in a safe place' }));
    await its.act(it.button('Done'));
  });
  test('a product is matched, and a test order sent', async () => {
    isOk(await ordered('K-1'), 202);
    await its.act(it.button('Choose presets'));
    await it.page.getByRole('option').first().waitFor();
    await it.page.keyboard.press('ArrowDown'); // to the choice that ignores the product
    await it.page.keyboard.press('ArrowDown');
    await it.page.keyboard.press('Enter');
    await it.page.keyboard.press('Escape');
    await its.act(it.button('Save matches'));
    await its.act(it.button('Send test order'));
    await its.act(it.button('Go on'));
    await it.sees('1 order was skipped: its product has presets now.');
    await its.isSomewhere('the test order');
  });
  test('and the first delivery', async () => {
    const { accountId } = isOk(
      await open().post('/api/auth/sign-in', { email: 'keys@shop.example', password: PASSWORD }),
    );
    await run(process.env.PRESETBRIDGE_BIN, [
      'admin',
      'grant-credits',
      accountId,
      '5',
      '--note',
      'story',
      '--data-dir',
      place.dataDir,
    ]);
    isOk(await ordered('K-2'), 202);
    await it.sees('That’s it. The bridge now works by itself.');
    await its.act(it.button('Go to overview').last());
    await it.heading('Needs you');
    await its.isSomewhere('the guide');
    await it.page.context().close();
  });
});

describe('each way to solve a failed delivery', () => {
  before(async () => {
    [me, hands] = await signedIn(place.signs.sam);
  });
  const field = (of) => of.field('Username on the cloud platform');
  const pressing = (name) => async (it, its) => its.act(it.button(name));
  const naming = (username) => async (it, its) => {
    await agrees(username);
    await its.write(field(it), username);
    await it.page.keyboard.press('Enter');
  };
  const another = (name) => async (it, its) => {
    await its.to(it.field('Preset to deliver instead'));
    await it.page.keyboard.type('tweed');
    await it.page.getByRole('option', { name: /Tweed/ }).waitFor();
    await it.page.keyboard.press('ArrowDown');
    await it.page.keyboard.press('Enter');
    await its.act(it.button(name));
  };
  const login = (email, password, name) => async (it, its) => {
    await its.write(it.field('E-mail at the cloud platform'), email);
    await its.write(it.field('Password at the cloud platform'), password);
    await its.act(it.button(name));
  };
  const WAYS = [
    ['cloud_unavailable', 'The cloud platform is away', pressing('Retry now')],
    ['username_missing', 'Whose order is this?', naming('keyed_in')],
    ['username_not_found', 'Username not found', naming('jonasek')],
    ['friend_request_declined', 'The buyer declined', pressing('Ask again'), () => agrees('declines_all')],
    [
      'friendship_timeout',
      'No answer for 14 days',
      pressing('Withdraw and ask again'),
      async () => agrees((await delivery(made.friendship_timeout)).targetUsername),
    ],
    ['blocked_by_customer', 'The buyer blocks you', pressing('Retry'), () => agrees('blocks_you')],
    ['preset_not_found', 'A preset is missing', another('Use this file')],
    ['preset_not_shareable', 'This preset cannot be shared', another('Use and retry')],
    ['cloud_rejected', 'Refused without a reason', pressing('Retry')],
    [
      'order_too_large',
      'This order waits for you',
      async (it, its) => {
        await its.act(it.button('Mark as delivered by hand…').first());
        await its.act(it.button('Mark as delivered', it.dialog));
      },
    ],
    ['in_review', 'This order waits for you', pressing('Approve'), () => agrees('noor.held')],
    [
      'credentials_invalid',
      'Your cloud login was refused',
      login('riley@cloud.example', 'changed', 'Sign in again'),
      () => allAgree(place.signs.riley),
      'riley',
    ],
    [
      'credentials_missing',
      'No cloud login',
      login('nova@cloud.example', 'nova at the cloud', 'Connect cloud account'),
      async () => {
        await cloud('POST', '/sim/merchants', {
          userId: 'm-nova',
          username: 'nova_noise',
          email: 'nova@cloud.example',
          password: 'nova at the cloud',
          files: [{ id: 'tweed-59-clean', name: 'Tweed' }],
        });
        await allAgree(place.signs.nova);
        await run(process.env.PRESETBRIDGE_BIN, [
          'admin',
          'grant-credits',
          story.nova.account,
          '10',
          '--note',
          'story',
          '--data-dir',
          place.dataDir,
        ]);
      },
      'nova',
    ],
  ];
  const allAgree = (sign) =>
    story.person(async (api) => {
      for (const { targetUsername } of (await api('GET', '/api/deliveries')).data) await agrees(targetUsername);
    }, sign);
  for (const [code, title, solve, prepare = () => {}, as] of WAYS)
    test(code, async () => {
      await prepare();
      const [it, its] = as ? await signedIn(place.signs[as]) : [me, hands];
      await it.go(`/deliveries/${made[code]}`);
      await it.heading(title);
      await its.skip();
      await solve(it, its);
      await it.sees(/^Delivered /);
      await its.isSomewhere('it was solved');
      if (as) await it.page.context().close();
    });
  test('insufficient_credits leads to where they are bought', async () => {
    const [it, its] = await signedIn(place.signs.pat);
    await it.go(`/deliveries/${made.insufficient_credits}`);
    await it.heading('Not enough credits');
    await its.skip();
    await its.act(link('Buy credits', it));
    await it.page.waitForURL('**/credits');
    await its.pick(it.page.getByRole('radio').nth(1));
    await its.to(it.button('Go to payment'));
    await it.page.context().close();
  });
});

describe('tables, the palette and many at once', () => {
  test('a row is walked to, opened, and gone back from', async () => {
    await me.go('/deliveries');
    await me.page.getByRole('row').nth(3).waitFor();
    await hands.skip();
    await hands.to(me.page.locator('a[data-row]').first());
    await me.page.keyboard.press('ArrowDown');
    assert.ok(await hands.has(me.page.locator('a[data-row]').nth(1)));
    await me.page.keyboard.press('Enter');
    await me.page.waitForURL('**/deliveries/del_*');
    await me.heading(/^Delivery of/);
    await hands.isSomewhere('a row was opened');
    await me.page.goBack();
    await me.page.locator('a[data-row]').first().waitFor();
  });
  test('many are chosen and stopped', async () => {
    await me.go('/deliveries?view=waiting');
    await me.page.getByRole('row').nth(2).waitFor();
    await hands.skip();
    for (const at of [0, 1]) {
      await hands.to(me.page.locator('tbody input[type=checkbox]').nth(at));
      await me.page.keyboard.press('Space');
    }
    await me.sees('2 selected');
    await hands.act(me.button('Stop…'));
    await hands.write(me.field('Reason', me.dialog), 'By the keyboard.');
    await hands.act(me.button('Stop 2', me.dialog));
    await me.sees('2 stopped.');
    await hands.isSomewhere('they were stopped');
  });
  test('a filter is set and taken away', async () => {
    await me.go('/deliveries');
    await hands.skip();
    await hands.act(me.button('Filter'));
    await hands.choose(me.page.getByRole('menuitem', { name: 'Problem' }));
    await hands.choose(me.page.getByRole('menuitemcheckbox', { name: 'Username missing' }));
    await me.page.keyboard.press('Escape');
    await me.page.waitForURL(/code=username_missing/);
    await hands.isSomewhere('the filter was chosen');
    await hands.act(me.button(/^Remove the filter/));
    await me.page.waitForURL((url) => !url.search.includes('code='));
    await hands.isSomewhere('the filter was taken away');
  });
  test('the arrows lead through a long list of presets, and the one that they lead to is in sight', async () => {
    await me.go(`/integrations/stores/${made.stores.shop.id}/products`);
    await hands.skip();
    await hands.act(me.button('Choose presets').first());
    const shown = me.page.getByRole('listbox');
    await shown.getByRole('option').first().waitFor();
    const list = await shown.evaluate((it) => [it.scrollHeight, it.clientHeight]);
    assert.ok(list[0] > list[1] + 100, 'the list is longer than what is seen of it');
    const options = await shown.getByRole('option').allTextContents();
    for (const option of options) {
      await me.page.keyboard.press('ArrowDown');
      const led = await me.page.locator('[role=option][data-combobox-selected]').evaluate((it) => {
        const { top, bottom } = it.getBoundingClientRect();
        const around = it.closest('[role=listbox]').getBoundingClientRect();
        return [
          it.textContent,
          top >= Math.max(around.top, 0) - 1 && bottom <= Math.min(around.bottom, innerHeight) + 1,
        ];
      });
      assert.deepEqual(led, [option, true]);
    }
    await me.page.keyboard.press('Escape');
  });
  test('letters that are typed before the palette has come are searched for', async () => {
    let come;
    const script = new Promise((resolve) => (come = resolve));
    let asked = false;
    await me.page.route(/\/Palette[^/]*\.js$/, async (route) => {
      asked = true;
      await script;
      await route.continue();
    });
    await me.go('/deliveries');
    await me.page.keyboard.press('Control+k');
    await me.page.keyboard.type('usagf');
    await me.page.keyboard.press('Backspace');
    await me.page.keyboard.type('e');
    assert.deepEqual([asked, await me.dialog.count()], [true, 0]);
    come();
    await me.page.getByRole('option', { name: /Usage/ }).first().waitFor();
    assert.equal(await me.dialog.getByRole('combobox').inputValue(), 'usage');
    await me.page.keyboard.press('Escape');
    await me.dialog.waitFor({ state: 'detached' });
    await me.page.unroute(/\/Palette[^/]*\.js$/);
  });
  test('the palette leads anywhere, and back', async () => {
    await me.go('/deliveries');
    await hands.skip();
    const before = me.button('Filter');
    await hands.to(before);
    await me.page.keyboard.press('Control+k');
    await hands.isHeldBy(me.dialog, { back: before });
    await me.page.keyboard.press('Control+k');
    await me.dialog.waitFor();
    await me.page.keyboard.type('usage');
    await me.page.getByRole('option', { name: /Usage/ }).first().waitFor();
    await me.page.keyboard.press('Enter');
    await me.page.waitForURL('**/usage');
    await hands.isSomewhere('the palette');
  });
});

// Every dialog and menu of pages.mjs: opened by keys, holding the focus, closed by Escape, and the focus back where it was.
describe('dialogs and menus', () => {
  // A sign-in of long ago has to be confirmed before what these ask for.
  before(async () => {
    await me.page.context().close();
    [me, hands] = await signedIn(place.signs.sam);
  });
  const OWN_BUTTON = new Set(['people-link', 'key-made', 'store-rotated', 'signed-out-meanwhile']);
  const nameOf = (name) => (/^\/.*\/$/.test(name) ? new RegExp(name.slice(1, -1)) : name);
  for (const one of pages.filter(
    ({ presses, stays, narrow, as }) =>
      presses && !stays && !narrow && !as && !presses.some((press) => press.startsWith('file:')),
  ))
    test(one.name, async () => {
      const anew = one.later || OWN_BUTTON.has(one.name);
      const [it, its] = anew ? await signedIn(place.signs.sam) : [me, hands];
      await it.page.unrouteAll({ behavior: 'ignoreErrors' });
      await answer(it.page, one.answers);
      await it.go(typeof one.path === 'string' ? one.path : one.path(made));
      await it.page.waitForFunction(() => !document.querySelector('[aria-busy=true]'));
      await answer(it.page, one.later);
      let opener; // on the page itself
      for (const press of one.presses) {
        const [what, ...rest] = press.split(':');
        const words = rest.join(':');
        const last = words.endsWith(':last'); // within the dialog that the press before opened
        const all = (last ? it.dialog.last() : it.page).getByRole(what, { name: nameOf(words.replace(/:last$/, '')) });
        const wanted = last ? all.last() : all.first();
        if (what === 'key') await it.page.keyboard.press(words);
        else if (what === 'type') await it.page.keyboard.type(words);
        else if (what === 'fill')
          await its.write(it.page.getByRole('textbox', { name: words.split('=')[0] }).first(), words.split('=')[1]);
        else if (what === 'menuitem') await its.choose(wanted);
        else {
          const first = (await it.dialog.count()) === 0;
          await its.to(wanted);
          if (first) opener = await wanted.elementHandle();
          await it.page.keyboard.press(/^(checkbox|switch)$/.test(what) ? 'Space' : 'Enter');
        }
      }
      const menu = one.presses.at(-1).startsWith('menuitem:')
        ? one.name === 'deliveries-filter'
        : /menu|actions/.test(one.name);
      if (menu) {
        const floating = it.page.getByRole('menu');
        await floating.waitFor();
        await until('the menu has the focus', () => floating.evaluate((at) => at.contains(document.activeElement)));
        await it.page.keyboard.press('Escape');
        await floating.waitFor({ state: 'detached' });
      } else {
        // Where two stand over the page, the upper one has the focus.
        await it.dialog.first().waitFor();
        await until('a dialog has the focus', () =>
          it.page.evaluate(() => document.activeElement?.closest('[role=dialog]') != null),
        );
        const uppermost = it.page.locator('[role=dialog]:focus-within');
        await its.isHeldBy(
          one.later
            ? it.page.locator('[role=dialog]').filter({ has: it.page.locator('input[type=password]') })
            : uppermost.or(it.dialog).last(),
          { closes: !OWN_BUTTON.has(one.name) },
        );
      }
      if (one.later) return it.page.context().close();
      if (!OWN_BUTTON.has(one.name)) {
        await its.isSomewhere(one.name);
        if (one.name !== 'deliveries-filter' && opener)
          await until(
            'the focus is back where it was',
            () => opener.evaluate((at) => !at.isConnected || at === document.activeElement),
            20_000,
          );
        return undefined;
      }
      const shown = it.dialog.last();
      await its.act(shown.getByRole('checkbox'), 'Space');
      await its.act(it.button('Done', shown));
      await shown.waitFor({ state: 'detached' });
      await its.isSomewhere('the secret');
      return it.page.context().close();
    });
});

test('the buyer says who they are', async () => {
  const [it] = (
    await story.merchant((api) => api('GET', '/api/deliveries?resolutionCode=username_missing,username_not_found'))
  ).data;
  const { buyerUrl } = await delivery(it.id);
  await agrees('typed_by_keys');
  const page = await browser.page(`${place.url}/p${new URL(buyerUrl).hash}`);
  const its = new Hands(page);
  await its.write(page.getByLabel('Your cloud username'), 'typed_by_keys');
  await its.act(page.getByRole('button', { name: 'Send my presets' }));
  await page.getByRole('heading', { level: 1, name: 'Enjoy your presets' }).waitFor();
  await its.isSomewhere('it was sent');
  await page.context().close();
});
