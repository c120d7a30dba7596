// The harness itself, on programs of a few lines: what it promises the other tests must hold before they mean anything.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { chmod, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Webhook } from 'standardwebhooks';
import { Client, Program, scratch, until, within } from './harness.mjs';
import { startReceiver, verifiedEvent } from './receiver.mjs';

async function program(scope, source) {
  const file = path.join(await scratch(scope), 'program.mjs');
  await writeFile(file, `#!${process.execPath}\n${source}`);
  await chmod(file, 0o755);
  const started = new Program('program', file, []);
  scope.after(() => started.kill());
  return started;
}
const server = `import http from 'node:http';
const server = http.createServer((request, response) => response.end(request.method + ' ' + request.url));
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ listening: 'http://127.0.0.1:' + server.address().port })));
console.error('a note');
`;

test('a program is asked where it listens, answers, and stops cleanly', async (t) => {
  const it = await program(t, `${server}process.on('SIGTERM', () => process.exit(0));`);
  await it.listening();
  const answer = await new Client(it.url).get('/a?b=c');
  assert.deepEqual([answer.status, answer.text, answer.json], [200, 'GET /a?b=c', undefined]);
  await it.stop();
  assert.equal(it.running, false);
  assert.ok(it.log.includes('a note'));
});

test('a program that ends before it listens is told with its last words', async (t) => {
  const it = await program(t, `console.error('no such folder'); process.exit(3);`);
  await assert.rejects(it.listening(), /exit 3[\s\S]*no such folder/);
});

test('a program that ends badly after SIGTERM is told', async (t) => {
  const it = await program(t, `${server}process.on('SIGTERM', () => process.exit(7));`);
  await it.listening();
  await assert.rejects(it.stop(), /exit 7/);
});

test('what a sanitizer reports of a program or of its child is told, however they end', async (t) => {
  const report = JSON.stringify('WARNING: ThreadSanitizer: data race (pid=17)\\n  a stack');
  const ofAChild = await program(
    t,
    `import { spawnSync } from 'node:child_process';
${server}process.on('SIGTERM', () => {
  spawnSync(process.execPath, ['-e', 'console.error(${report})'], { stdio: 'inherit' });
  process.exit(0);
});`,
  );
  await ofAChild.listening();
  await assert.rejects(ofAChild.stop(), /a sanitizer found fault with program:\n.*data race[^\n]*\n {2}a stack/);
  const killed = await program(t, `console.error('==17==ERROR: AddressSanitizer: heap-use-after-free');${server}`);
  await killed.listening();
  await assert.rejects(killed.kill(), /heap-use-after-free/);
});

test('a program without a path is told before anything starts', () => {
  assert.throws(() => new Program('cloudsim', undefined, []), /CLOUDSIM_BIN/);
});

test('a program does not outlive the test that was killed', async (t) => {
  const folder = await scratch(t);
  const harness = new URL('./harness.mjs', import.meta.url).href;
  await writeFile(path.join(folder, 'server.mjs'), `#!${process.execPath}\n${server}`);
  await chmod(path.join(folder, 'server.mjs'), 0o755);
  const parent = await program(
    t,
    `const { Program } = await import(${JSON.stringify(harness)});
     const child = await new Program('child', ${JSON.stringify(path.join(folder, 'server.mjs'))}, []).listening();
     console.log(JSON.stringify({ listening: child.url }));`,
  );
  await parent.listening();
  assert.equal((await new Client(parent.url).get('/')).status, 200);
  await parent.kill();
  await until('the child is gone', () =>
    new Client(parent.url).get('/').then(
      () => false,
      () => true,
    ),
  );
});

test('waiting ends with the last thing seen when its deadline passes', async () => {
  await assert.rejects(
    until('a miracle', () => 0, 30),
    /a miracle: not within 30 ms; last seen: 0/,
  );
  await assert.rejects(
    until('a miracle', () => Promise.reject(new Error('not yet')), 30),
    /not yet/,
  );
  await assert.rejects(within('an answer', new Promise(() => {}), 30), /an answer: not within 30 ms/);
  assert.equal(await within('an answer', Promise.resolve(5), 1000), 5);
});

test('a server that never answers does not hold a test up', async (t) => {
  const it = await program(t, server.replace('response.end(', '(() => {})('));
  await it.listening();
  await assert.rejects(new Client(it.url).get('/', { deadlineMs: 50 }), {
    name: 'AbortError',
    message: 'GET /: no whole answer within 50 ms',
  });
});

test('a client reads JSON and shows every answer to its check', async (t) => {
  const seen = [];
  const receiver = await startReceiver(t, {
    answer: () => ({ status: 409, headers: { 'content-type': 'application/json' }, body: '{"a":1}' }),
  });
  const client = new Client(receiver.url, {
    headers: { 'x-api-key': 'k' },
    check: (answer) => seen.push(answer.status),
  });
  const answer = await client.with({ 'x-other': 'o' }).post('/x', { b: 'é' });
  assert.deepEqual([answer.json, seen], [{ a: 1 }, [409]]);
  const [request] = receiver.requests;
  assert.deepEqual([request.headers['x-api-key'], request.headers['x-other'], request.body], ['k', 'o', '{"b":"é"}']);
});

test('a receiver believes only what both witnesses verify', async (t) => {
  const receiver = await startReceiver(t);
  const secret = `whsec_${Buffer.from('a secret of twenty-four b').toString('base64')}`;
  const body = JSON.stringify({ id: 'e', type: 'delivery.completed' });
  const now = new Date();
  const headers = {
    'x-vendor-event': 'delivery.completed',
    'x-vendor-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
    'webhook-id': 'e',
    'webhook-timestamp': String(Math.floor(now / 1000)),
    'webhook-signature': new Webhook(secret).sign('e', now, body),
  };
  await new Client(receiver.url).request('POST', '/hook', { body, headers });
  const request = await receiver.waitFor('the event', (event) => event.id === 'e');
  assert.equal((await verifiedEvent(request, secret)).type, 'delivery.completed');
  await assert.rejects(verifiedEvent({ ...request, body: `${body} ` }, secret), /X-Vendor-Signature/);
  const without = { ...request, headers: { ...request.headers, 'webhook-signature': 'v1,AAAA' } };
  await assert.rejects(verifiedEvent(without, secret));
  const other = { ...request, headers: { ...request.headers, 'x-vendor-event': 'delivery.failed' } };
  await assert.rejects(verifiedEvent(other, secret), /X-Vendor-Event/);
});
