// A merchant solves what failed, from its panel, in a real browser: one delivery of each resolution code, of the demonstration's month,
// in which those are that take days (no answer for 14 days, away for 72 hours). And what else a person decides.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { run, stopAll } from '../../demo/programs.mjs';
import { startReceivers } from '../../demo/receivers.mjs';
import { fill, serve } from '../../demo/show.mjs';
import { Browser } from './chromium.mjs';
import { Dashboard } from './dashboard.mjs';
import { Scope, scratch, until } from './harness.mjs';

const { PRESETBRIDGE_BIN: bridge, CLOUDSIM_BIN: cloudsim, PAYSIM_BIN: paysim, DEMO_PAST_BIN: past } = process.env;
const scope = new Scope({ after });
let browser, me, story, made, urls, dataDir;

before(async () => {
  dataDir = path.join(await scratch(scope), 'data');
  const receivers = await startReceivers();
  scope.after(() => receivers.close());
  const filled = await fill(past, dataDir, { receivers: receivers.urls });
  scope.after(stopAll);
  urls = await serve({ bridge, cloudsim, paysim }, dataDir, filled, [
    '--delivery-jobs-per-minute',
    '0',
    '--delivery-first-sweep-seconds',
    '1',
  ]);
  ({ story } = filled);
  ({ made } = story);
  browser = await Browser.start(scope);
  me = await Dashboard.open(browser, urls.bridge);
  await me.signIn(story.sign);
});
afterEach(() => browser.isClean());

const cloud = (method, target, body) => story.past.must('cloud', method, target, body);
const agrees = (username) => cloud('POST', '/sim/customers', { username, userId: `u-${username}`, answer: 'accept' });
const delivery = (id) => story.merchant((api) => api('GET', `/api/deliveries/${id}`));
// Its page, as it stands failed.
async function open(code, title, who = me) {
  await who.go(`/deliveries/${made[code]}`);
  await who.heading(title);
  await who.judge(code);
}
// All who bought of that account accept at once from now on.
const allAgree = (sign) =>
  story.person(async (api) => {
    for (const { targetUsername } of (await api('GET', '/api/deliveries')).data) await agrees(targetUsername);
  }, sign);
const delivered = (who = me) => who.sees(/^Delivered /);
const grant = (name, credits) =>
  run(bridge, [
    'admin',
    'grant-credits',
    story[name].account,
    String(credits),
    '--note',
    'story',
    '--data-dir',
    dataDir,
  ]);
// In the database file, beside the service that has it open.
const inFile = (sql) =>
  promisify(execFile)('sqlite3', ['-cmd', '.timeout 10000', path.join(dataDir, 'presetbridge.db'), sql]);
// Another of the accounts, in a browser of its own.
async function as(sign, options) {
  const it = await Dashboard.open(browser, urls.bridge, options);
  await it.signIn(sign);
  return it;
}
async function pickFile(button) {
  await me.field('Preset to deliver instead').click();
  await me.page.keyboard.type('tweed');
  await me.page.getByRole('option', { name: /Tweed/ }).click();
  await me.button(button).click();
}

describe('each resolution code is solved from its panel', () => {
  test('cloud_unavailable: once more, at once', async () => {
    await open('cloud_unavailable', 'The cloud platform is away');
    await me.button('Retry now').click();
    await delivered();
  });
  test('username_missing: the name, by the keyboard', async () => {
    await agrees('found_it');
    await open('username_missing', 'Whose order is this?');
    await me.field('Username on the cloud platform').focus();
    await me.page.keyboard.type('@found_it');
    await me.page.keyboard.press('Enter');
    await me.sees(/^Queued again for @found_it\./);
    await delivered();
  });
  test('username_not_found: the field holds what was tried', async () => {
    await agrees('jonasek');
    await open('username_not_found', 'Username not found');
    const field = me.field('Username on the cloud platform');
    assert.equal(await field.inputValue(), 'Jonasek_');
    await field.fill('jonasek');
    await me.button('Save and retry').click();
    await delivered();
  });
  test('friend_request_declined: asked again', async () => {
    await open('friend_request_declined', 'The buyer declined');
    await agrees('declines_all');
    await me.button('Ask again').click();
    await delivered();
  });
  test('friendship_timeout: withdrawn, and asked again', async () => {
    await open('friendship_timeout', 'No answer for 14 days');
    await agrees((await delivery(made.friendship_timeout)).targetUsername);
    await me.button('Withdraw and ask again').click();
    await delivered();
  });
  test('blocked_by_customer: once the buyer lets us', async () => {
    await open('blocked_by_customer', 'The buyer blocks you');
    await agrees('blocks_you');
    await me.button('Retry').click();
    await delivered();
  });
  test('preset_not_found: another file, and it goes on by itself', async () => {
    await open('preset_not_found', 'A preset is missing');
    await pickFile('Use this file');
    await delivered();
  });
  test('preset_not_shareable: another file', async () => {
    await open('preset_not_shareable', 'This preset cannot be shared');
    await pickFile('Use and retry');
    await delivered();
  });
  test('cloud_rejected: once more', async () => {
    await open('cloud_rejected', 'Refused without a reason');
    await me.button('Retry').click();
    await delivered();
  });
  test('order_too_large: marked as delivered by hand', async () => {
    await open('order_too_large', 'This order waits for you');
    await me.sees(/This order has 251 products; the limit is 250\./);
    assert.equal(await me.button('Approve').count(), 0);
    await me.button('Mark as delivered by hand…').first().click();
    await me.judge('delivered by hand?');
    await me.button('Mark as delivered', me.dialog).click();
    await delivered();
  });
  test('credentials_missing: the login, in its place', async () => {
    const { newcomer } = made.others;
    await cloud('POST', '/sim/merchants', {
      userId: 'm-nova',
      username: 'nova_noise',
      email: 'nova@cloud.example',
      password: 'nova at the cloud',
      files: [{ id: 'tweed-59-clean', name: 'Tweed' }],
    });
    await allAgree(newcomer);
    await grant('nova', 10);
    const nova = await as(newcomer);
    await open('credentials_missing', 'No cloud login', nova);
    await nova.field('E-mail at the cloud platform').fill('nova@cloud.example');
    await nova.field('Password at the cloud platform').fill('nova at the cloud');
    await nova.button('Connect cloud account').click();
    await delivered(nova);
    await nova.page.context().close();
  });
  test('credentials_invalid: all that waited goes on', async () => {
    await allAgree(made.others.refused);
    const riley = await as(made.others.refused);
    await open('credentials_invalid', 'Your cloud login was refused', riley);
    await riley.field('E-mail at the cloud platform').fill('riley@cloud.example');
    await riley.field('Password at the cloud platform').fill('changed');
    await riley.button('Sign in again').click();
    await delivered(riley);
    await riley.go('/deliveries');
    await until('none is left', async () => (await riley.page.getByText('Login refused').count()) === 0);
    await riley.page.context().close();
  });
  test('insufficient_credits: they are bought, and it goes on by itself', async () => {
    // The payment page is another origin's.
    const pat = await as(made.others.poor, { expected: new RegExp(`status of (401|404)|asks ${urls.bank}/`) });
    await open('insufficient_credits', 'Not enough credits', pat);
    const { page } = pat;
    await page.getByRole('main').getByRole('link', { name: 'Buy credits' }).click();
    await page.waitForURL('**/credits');
    await pat.button('Go to payment').click();
    await page.waitForURL(`${urls.bank}/**`);
    await pat.button('Pay').click();
    await pat.heading('Paid');
    await pat.heading('Deliveries that went on since');
    await page.locator(`a[href^="/deliveries/${made.insufficient_credits}"]`).first().click();
    await page.waitForURL(`**/deliveries/${made.insufficient_credits}*`);
    await delivered(pat);
    await page.context().close();
  });
  // A row that somebody else has written: the service leaves none of its own (resolutions.test.mjs).
  test('internal_error: once more', async () => {
    const { deliveryId } = await story.order(made.stores.club, {
      username: 'damaged',
      policy: null, // nobody of that name
      skus: ['TWEED-59'],
    });
    const { orderId } = await until('it has failed', async () => {
      const it = await delivery(deliveryId);
      return it.status === 'failed' && it;
    });
    await agrees('damaged');
    const ids = `(SELECT id FROM deliveries WHERE order_key = '${orderId}')`;
    await inFile(`UPDATE deliveries SET resolution_code = 'internal_error' WHERE id IN ${ids};
      UPDATE delivery_timeline SET resolution_code = 'internal_error'
        WHERE resolution_code IS NOT NULL AND delivery_id IN ${ids};`);
    made.internal_error = deliveryId;
    await open('internal_error', 'Our fault');
    await me.button('Retry').click();
    await delivered();
  });
});

describe('what a person decides', () => {
  test('a held order is approved', async () => {
    await open('in_review', 'This order waits for you');
    await me.sees('You asked to see every order of Marlow EU first.');
    await agrees('noor.held');
    await me.button('Approve').click();
    await me.sees(/^Approved\./);
    await delivered();
  });
  test('one that waits is stopped with a reason, put back in review, and approved', async () => {
    const username = 'tommy_rook';
    made.stopped = (await story.merchant((api) => api('GET', `/api/deliveries?q=${username}`))).data[0].id;
    await open('stopped', /^Waiting for @tommy_rook/);
    await me.choose('More', 'Stop delivery…');
    await me.judge('stop this delivery?');
    assert.ok(await me.button('Stop delivery', me.dialog).isDisabled(), 'not without a reason');
    await me.field('Reason', me.dialog).fill('The buyer asked for it.');
    await me.button('Stop delivery', me.dialog).click();
    await me.heading('This delivery was stopped');
    await me.sees('The buyer asked for it.');
    await me.button('Reopen').first().click();
    await me.judge('put back in review?');
    await me.button('Reopen', me.dialog).click();
    await me.heading('This order waits for you');
    await cloud('PUT', '/sim/friendship', { merchant: 'm-marlow', customer: `u-${username}`, state: 'friends' });
    await me.button('Approve').click();
    await delivered();
    const told = (await delivery(made.stopped)).timeline.filter(({ actorName }) => actorName === story.sign.email);
    assert.equal(told.length, 3, 'the timeline tells who did it');
  });
  test('a buyer corrects the name on their own page, and the merchant sees it happen', async () => {
    const { data } = await story.merchant((api) => api('GET', '/api/deliveries?resolutionCode=username_not_found'));
    made.mistyped = data[0].id;
    await open('mistyped', 'Username not found');
    const { buyerUrl } = await delivery(made.mistyped);
    await agrees('slowhand_himself');
    const buyer = await browser.page(`${urls.bridge}/p${new URL(buyerUrl).hash}`);
    await buyer.getByLabel('Your cloud username').fill('slowhand_himself');
    await buyer.getByRole('button', { name: 'Send my presets' }).click();
    await buyer.getByRole('heading', { level: 1, name: 'Enjoy your presets' }).waitFor();
    await delivered();
    await me.sees('given by the buyer');
    await buyer.context().close();
  });
});
