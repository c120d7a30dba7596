// Mails to people (spec 7.2): to confirm an address, and to set a new password. An independent server takes them, over STARTTLS.
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { Client, Scope, runBridge, scratch, startBridge, startCloudsim, until } from './harness.mjs';
import { Mailbox, linkOf } from './mailbox.mjs';
import { PASSWORD, contract, isError, isOk } from './merchant.mjs';

const NEXT = 'another long pass phrase';
const QUIET_MS = 1_500; // in which a mail that must not come would have come
const LATER_MS = 60_000; // for the second attempt, half a minute after the first
const scope = new Scope({ after });
let cloud, mailbox, bridge, open;

before(async () => {
  cloud = await startCloudsim(scope);
  mailbox = await Mailbox.start(scope);
  bridge = await startWith(mailbox);
  open = new Client(bridge.url, { check: contract.check });
});

async function startWith(box, { dataDir, ...options } = {}, context = scope) {
  const folder = dataDir ?? (await scratch(context));
  return startBridge(context, {
    cloudUrl: cloud.url,
    dataDir: folder,
    args: await box.args(folder, options),
  });
}
const signUp = async (name, at = open) =>
  isOk(await at.post('/api/auth/sign-up', { email: `${name}@shop.example`, password: PASSWORD }), 201);
const as = ({ idToken }, at = open) => at.with({ authorization: `Bearer ${idToken}` });
const caller = async (tokens, at = open) => isOk(await as(tokens, at).get('/api/account')).caller;
const claims = ({ idToken }) => JSON.parse(Buffer.from(idToken.split('.')[1], 'base64url'));
const forget = async (email, at = open) => {
  const answer = await at.post('/api/auth/password-reset', { email });
  assert.deepEqual([answer.status, answer.json], [202, { status: 'accepted' }], answer.text);
  return answer;
};
const confirm = (token, password = NEXT) => open.post('/api/auth/password-reset/confirm', { token, password });
const verify = (token, at = open) => at.post('/api/auth/verify', { token });

test('a sign-up is mailed a link, which confirms the address once', async () => {
  assert.equal(isOk(await open.get('/api/auth/config')).mail, true);
  const ann = await signUp('ann');
  assert.equal((await caller(ann)).emailVerified, false);
  assert.equal(claims(ann).email_verified, false);
  const it = await mailbox.newest('ann@shop.example');
  assert.deepEqual([it.secure, it.user, it.from], [true, 'bridge', 'bridge@mail.example']);
  assert.deepEqual(it.mail.from.value, [{ address: 'bridge@mail.example', name: 'Tøne Bridge' }]);
  assert.deepEqual(it.mail.to.text, 'ann@shop.example');
  assert.equal(it.mail.subject, 'Confirm your e-mail address');
  assert.equal(it.mail.html, false);
  assert.match(it.mail.messageId, /^<mal_\w{13}@mail\.example>$/);
  assert.ok(Math.abs(it.mail.date.getTime() - Date.now()) < 60_000, String(it.mail.date));
  assert.equal(it.mail.headers.get('auto-submitted'), 'auto-generated');
  const { url, token } = linkOf(it, '/verify');
  assert.ok(url.startsWith(`${bridge.url}/verify#`), url);
  isError(await confirm(token), 404, 'LINK_INVALID'); // it is for another purpose
  isOk(await verify(token), 204);
  assert.equal((await caller(ann)).emailVerified, true);
  const fresh = isOk(await open.post('/api/auth/refresh', { refreshToken: ann.refreshToken }));
  assert.equal(claims(fresh).email_verified, true);
  isError(await verify(token), 404, 'LINK_INVALID');
  isError(await as(fresh).post('/api/auth/verification'), 409, 'CONFLICT');
});

test('a link for a former address verifies nothing, and the new one gets its own', async () => {
  const bob = await signUp('bob');
  const { token } = linkOf(await mailbox.newest('bob@shop.example'), '/verify');
  const moved = isOk(await as(bob).post('/api/auth/email', { password: PASSWORD, email: 'robert@shop.example' }));
  isError(await verify(token), 404, 'LINK_INVALID');
  const next = linkOf(await mailbox.newest('robert@shop.example'), '/verify');
  isOk(await verify(next.token), 204);
  assert.equal((await caller(moved)).emailVerified, true);
});

test('a link is sent again, three times an hour, and ends the one before', async () => {
  const cleo = await signUp('cleo');
  const first = linkOf(await mailbox.newest('cleo@shop.example'), '/verify');
  isOk(await as(cleo).post('/api/auth/verification'), 202);
  const second = linkOf(await mailbox.newest('cleo@shop.example', 2), '/verify');
  isError(await verify(first.token), 404, 'LINK_INVALID');
  isOk(await as(cleo).post('/api/auth/verification'), 202);
  await mailbox.newest('cleo@shop.example', 3);
  const refused = await as(cleo).post('/api/auth/verification');
  isError(refused, 429, 'RATE_LIMIT_EXCEEDED');
  assert.ok(Number(refused.headers['retry-after']) > 3_000);
  isError(await verify(second.token), 404, 'LINK_INVALID');
});

test('who forgot the password sets a new one by a link, once; all sessions end', async () => {
  const dan = await signUp('dan');
  const { token: confirmation } = linkOf(await mailbox.newest('dan@shop.example'), '/verify');
  const key = isOk(await as(dan).post('/api/keys', { name: 'of before' }), 201);
  await forget('  Dan@Shop.example ');
  const older = linkOf(await mailbox.newest('dan@shop.example', 2), '/reset');
  await forget('dan@shop.example');
  const { token } = linkOf(await mailbox.newest('dan@shop.example', 3), '/reset');
  isError(await confirm(`${token.slice(0, -1)}${token.endsWith('A') ? 'B' : 'A'}`), 404, 'LINK_INVALID');
  isError(await verify(token), 404, 'LINK_INVALID');
  isError(await confirm(token, 'short'), 422, 'VALIDATION_FAILED');
  const answer = await confirm(token);
  isError(await confirm(older.token), 404, 'LINK_INVALID');
  const fresh = isOk(answer);
  assert.equal(answer.headers['cache-control'], 'no-store');
  assert.deepEqual(
    fresh.keys.map(({ id, name }) => [id, name]),
    [[key.id, 'of before']],
  );
  isError(await confirm(token), 404, 'LINK_INVALID');
  isError(await as(dan).get('/api/account'), 401, 'UNAUTHORIZED');
  isError(await open.post('/api/auth/refresh', { refreshToken: dan.refreshToken }), 401, 'UNAUTHORIZED');
  assert.equal((await caller(fresh)).emailVerified, true, 'the mail arrived there');
  isError(
    await open.post('/api/auth/sign-in', { email: 'dan@shop.example', password: PASSWORD }),
    401,
    'INVALID_CREDENTIALS',
  );
  isOk(await open.post('/api/auth/sign-in', { email: 'dan@shop.example', password: NEXT }));
  const audit = isOk(await as(fresh).get('/api/account/audit?action=password.reset'));
  assert.match(audit.data[0].detail, /link in a mail/);
  isOk(await verify(confirmation), 204); // it says nothing new
});

test('an unknown address gets the same answer and no mail, however often it is asked', async () => {
  await signUp('eve');
  await mailbox.newest('eve@shop.example');
  const shown = ({ headers }) => Object.keys(headers).sort();
  const known = await forget('eve@shop.example');
  const unknown = await forget('nobody@shop.example');
  assert.deepEqual(shown(unknown), shown(known));
  for (let i = 0; i < 4; ++i) {
    await forget('eve@shop.example');
    await forget('nobody@shop.example');
  }
  await delay(QUIET_MS);
  // The confirmation, and of three links those that are sent by now.
  const many = mailbox.of('eve@shop.example').length;
  assert.ok(many >= 2 && many <= 4, `${many} mails`);
  const { token } = linkOf(mailbox.of('eve@shop.example').at(-1), '/reset');
  isOk(await confirm(token));
  assert.deepEqual(mailbox.of('nobody@shop.example'), []);
  isError(await open.post('/api/auth/password-reset', { email: 'nobody' }), 422, 'VALIDATION_FAILED');
  isError(
    await open.post('/api/auth/password-reset', { email: 'a@b.example\r\nBcc: x@y.example' }),
    422,
    'VALIDATION_FAILED',
  );
});

test('an address that the server refuses for good is not tried again', async () => {
  mailbox.refuses.add('fay@shop.example');
  await signUp('fay');
  await until('it is given up', () => bridge.log.some((line) => line.includes('a mail was given up')));
  mailbox.refuses.delete('fay@shop.example');
  await delay(QUIET_MS);
  assert.deepEqual(mailbox.of('fay@shop.example'), []);
});

test('mails wait while the server is away, and over a crash of the service', async (t) => {
  const own = new Scope(t);
  const box = await Mailbox.start(own);
  const first = await startWith(box, {}, own);
  await box.close();
  const at = new Client(first.url, { check: contract.check });
  await signUp('gus', at);
  const failed = (count) => () => first.log.filter((line) => line.includes('could not be sent')).length === count;
  await until('the first attempt failed', failed(1));
  await signUp('hal', at);
  await until('the one of the other mail failed', failed(2)); // one under way would keep its lease over the crash
  await first.kill();
  await box.open();
  const again = await startWith(box, { dataDir: first.dataDir }, own);
  const { token } = linkOf(await box.newest('gus@shop.example', 1, LATER_MS), '/verify');
  await box.newest('hal@shop.example', 1, LATER_MS);
  isOk(await verify(token, new Client(again.url, { check: contract.check })), 204);
});

test('no mail goes to a server whose certificate nobody vouches for', async (t) => {
  const own = new Scope(t);
  const box = await Mailbox.start(own);
  const distrustful = await startWith(box, { certificate: null }, own);
  await signUp('ida', new Client(distrustful.url));
  await until('it failed', () => distrustful.log.some((line) => /could not be sent.*certificate/i.test(line)));
  assert.deepEqual(box.mails, []);
});

test('doctor signs in at the server', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  const finding = async (args) => {
    const all = ['doctor', '--json', '--data-dir', folder, '--listen', '127.0.0.1:1', '--cloud-url', cloud.url];
    const { stdout } = await runBridge([...all, ...args], { deadlineMs: 60_000 });
    return JSON.parse(stdout.split('\n').find((line) => line.includes('"what":"mail"')));
  };
  assert.equal((await finding([])).grade, 'note');
  const args = await mailbox.args(folder);
  assert.equal((await finding(args)).grade, 'ok');
  const without = await finding(await mailbox.args(folder, { certificate: null }));
  assert.deepEqual([without.grade, /certificate/i.test(without.found)], ['problem', true], without.found);
  const wrong = await finding(args.map((one) => (one === 'bridge' ? 'somebody' : one)));
  assert.equal(wrong.grade, 'problem', wrong.found);
  assert.ok(!JSON.stringify([without, wrong]).includes(mailbox.secret));
});

test('without a mail server nothing is mailed, and the service says so', async (t) => {
  const own = new Scope(t);
  const plain = await startBridge(own, { cloudUrl: cloud.url });
  const at = new Client(plain.url, { check: contract.check });
  assert.equal(isOk(await at.get('/api/auth/config')).mail, false);
  const joe = await signUp('joe', at);
  assert.equal((await caller(joe, at)).emailVerified, false);
  for (const asked of [
    at.post('/api/auth/password-reset', { email: 'joe@shop.example' }),
    at.post('/api/auth/password-reset/confirm', { token: 'x', password: NEXT }),
    at.post('/api/auth/verify', { token: 'x' }),
    as(joe, at).post('/api/auth/verification'),
  ])
    isError(await asked, 409, 'MAIL_OFF');
});

test('settings that contradict each other are refused', async (t) => {
  const own = new Scope(t);
  const folder = await scratch(own);
  const check = async (...args) => {
    const all = ['config', 'check', '--data-dir', folder, '--cloud-url', cloud.url, ...args];
    const { code, stdout, stderr } = await runBridge(all);
    return [code, `${stdout}${stderr}`];
  };
  const from = ['--mail-from', 'a@b.example'];
  assert.equal((await check('--mail-url', 'smtps://mail.example', ...from))[0], 0);
  for (const [args, setting] of [
    [['--mail-url', 'http://mail.example', ...from], 'mail.url'],
    [['--mail-url', 'smtp://user:secret@mail.example', ...from], 'mail.url'],
    [['--mail-url', 'smtp://mail.example'], 'mail.from'],
    [['--mail-url', 'smtp://mail.example', '--mail-from', 'a@b.example\nBcc: x@y.example'], 'mail.from'],
    [['--mail-url', 'smtp://mail.example', ...from, '--mail-from-name', 'a\nBcc: x@y.example'], 'mail.from_name'],
    [['--mail-user', 'somebody'], 'mail.url'],
  ]) {
    const [code, said] = await check(...args);
    assert.notEqual(code, 0, said);
    assert.ok(said.includes(setting), said);
  }
});

test('no log holds a token, an address or the password', () => {
  const log = bridge.log.join('\n');
  for (const { to, mail } of mailbox.mails) {
    const [token] = /(?<=#)[\w-]{32}/.exec(mail.text);
    for (const secret of [token, to, mailbox.secret]) assert.ok(!log.includes(secret), secret);
  }
  assert.ok(mailbox.mails.length > 10);
});
