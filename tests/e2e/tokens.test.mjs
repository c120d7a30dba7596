// ID tokens of another issuer (spec 7.1), made with npm `jose`: the bridge takes those that `jose` takes and no others, answers 401 to
// all that is wrong, and to none of them slowly.
import assert from 'node:assert/strict';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import http from 'node:http';
import { after, before, test } from 'node:test';
import {
  CompactSign,
  SignJWT,
  base64url,
  createLocalJWKSet,
  exportJWK,
  exportSPKI,
  generateKeyPair,
  jwtVerify,
} from 'jose';
import { Client, Scope, startBridge } from './harness.mjs';

const AUDIENCE = 'bridge';
const SLOW_MS = 3_000;
const scope = new Scope({ after });
let bridge, iss, jwks, api;
const keys = {};

const now = () => Math.floor(Date.now() / 1000);
const text = (value) => base64url.encode(typeof value === 'string' ? value : JSON.stringify(value));
const claims = (other = {}) => {
  const all = { iss, aud: AUDIENCE, sub: 'ann', iat: now(), exp: now() + 600, ...other };
  return Object.fromEntries(Object.entries(all).filter(([, value]) => value !== undefined));
};
const sign = (payload = claims(), { key = keys.es, alg = key.alg, header = {} } = {}) =>
  new SignJWT(payload).setProtectedHeader({ alg, kid: key.kid, ...header }).sign(key.privateKey);
const signText = (payload, { key = keys.es, header = {} } = {}) =>
  new CompactSign(new TextEncoder().encode(payload))
    .setProtectedHeader({ alg: key.alg, kid: key.kid, ...header })
    .sign(key.privateKey);
const changed = async (index, change, token = sign()) => {
  const parts = (await token).split('.');
  parts[index] = change(parts[index]);
  return parts.join('.');
};
const flipped = (part) => `${part[0] === 'A' ? 'B' : 'A'}${part.slice(1)}`;
// Signs tokens that no library would.
const hmac = (secret, header, payload = claims()) => {
  const input = `${text(header)}.${text(payload)}`;
  return `${input}.${createHmac('sha256', secret).update(input).digest('base64url')}`;
};

// [what it is, how it is made]
const TABLE = [
  ['ES256', () => sign()],
  ['RS256', () => sign(claims(), { key: keys.rs })],
  ['ES256 of the second key', () => sign(claims(), { key: keys.es2 })],
  ['RS256 without a kid, where one key fits', () => sign(claims(), { key: keys.rs, header: { kid: undefined } })],
  ['ES256 without a kid, where two keys fit', () => sign(claims(), { header: { kid: undefined } })],
  ['typ JWT', () => sign(claims(), { header: { typ: 'JWT' } })],
  ['typ at+jwt', () => sign(claims(), { header: { typ: 'at+jwt' } })],
  ['an unknown claim', () => sign(claims({ extra: { deep: [1, 2, 3] } }))],
  ['two audiences, one of them ours', () => sign(claims({ aud: ['other', AUDIENCE] }))],
  ['our audience alone in a list', () => sign(claims({ aud: [AUDIENCE] }))],
  ['other audiences alone', () => sign(claims({ aud: ['other', 'another'] }))],
  ['another audience', () => sign(claims({ aud: 'other' }))],
  ['the audience in capitals', () => sign(claims({ aud: AUDIENCE.toUpperCase() }))],
  ['a longer audience', () => sign(claims({ aud: `${AUDIENCE}s` }))],
  ['an empty list of audiences', () => sign(claims({ aud: [] }))],
  ['no audience', () => sign(claims({ aud: undefined }))],
  ['a number for the audience', () => signText(JSON.stringify(claims({ aud: 7 })))],
  ['another issuer', () => sign(claims({ iss: 'https://evil.example' }))],
  ['the issuer with a slash', () => sign(claims({ iss: `${iss}/` }))],
  ['the issuer in a list', () => signText(JSON.stringify(claims({ iss: [iss] })))],
  ['no issuer', () => sign(claims({ iss: undefined }))],
  ['the built-in issuer, signed by another', () => sign(claims({ iss: bridge.url, aud: 'presetbridge' }))],
  ['no subject', () => sign(claims({ sub: undefined }))],
  ['an empty subject', () => sign(claims({ sub: '' }))],
  ['a number for the subject', () => signText(JSON.stringify(claims({ sub: 7 })))],
  ['a subject of null', () => signText(JSON.stringify(claims({ sub: null })))],
  ['expired within the leeway', () => sign(claims({ exp: now() - 40 }))],
  ['expired beyond the leeway', () => sign(claims({ exp: now() - 75 }))],
  ['expired a year ago', () => sign(claims({ exp: now() - 31_536_000 }))],
  ['exp with a fraction', () => signText(JSON.stringify(claims({ exp: now() + 10.5 })))],
  ['exp of zero', () => sign(claims({ exp: 0 }))],
  ['exp before 1970', () => sign(claims({ exp: -1 }))],
  ['exp in words', () => signText(JSON.stringify(claims({ exp: String(now() + 600) })))],
  ['exp of null', () => signText(JSON.stringify(claims({ exp: null })))],
  ['no exp', () => sign(claims({ exp: undefined }))],
  ['iat in the future within the leeway', () => sign(claims({ iat: now() + 40 }))],
  ['iat in the future beyond the leeway', () => sign(claims({ iat: now() + 90 }))],
  ['iat long ago', () => sign(claims({ iat: 1 }))],
  ['iat in words', () => signText(JSON.stringify(claims({ iat: String(now()) })))],
  ['no iat', () => sign(claims({ iat: undefined }))],
  ['nbf in the past', () => sign(claims({ nbf: now() - 10 }))],
  ['nbf in the future within the leeway', () => sign(claims({ nbf: now() + 40 }))],
  ['nbf in the future beyond the leeway', () => sign(claims({ nbf: now() + 90 }))],
  ['nbf in words', () => signText(JSON.stringify(claims({ nbf: 'soon' })))],
  ['a changed header', () => changed(0, () => text({ alg: 'ES256', kid: keys.es.kid, more: 1 }))],
  ['a changed payload', () => changed(1, () => text(claims({ sub: 'eve' })))],
  ['a changed signature', () => changed(2, flipped)],
  [
    'the signature of another token',
    async () =>
      changed(2, () => '', sign()).then(async (token) => token + (await sign(claims({ sub: 'eve' }))).split('.')[2]),
  ],
  ['an empty signature', () => changed(2, () => '')],
  ['half a signature', () => changed(2, (part) => part.slice(0, 43))],
  ['a signature of zeros', () => changed(2, () => base64url.encode(new Uint8Array(64)))],
  ['a signature in DER', () => changed(2, () => base64url.encode(Uint8Array.of(0x30, 6, 2, 1, 1, 2, 1, 1)))],
  ['a signature with padding', () => changed(2, (part) => `${part}==`)],
  ['a payload that is no base64url', () => changed(1, () => '!!!')],
  ['a header that is no base64url', () => changed(0, () => '!!!')],
  ['a header that is no JSON', () => changed(0, () => text('{'))],
  ['a header that is a list', () => changed(0, () => text([]))],
  ['a payload that is no JSON', () => signText('{')],
  ['a payload that is a list', () => signText('[]')],
  ['a payload that is a text', () => signText('"ann"')],
  ['an empty payload', () => signText('')],
  ['two parts', async () => (await sign()).split('.').slice(0, 2).join('.')],
  ['four parts', async () => `${await sign()}.AAAA`],
  ['five parts', async () => `${await sign()}.AAAA.AAAA`],
  ['nothing but dots', () => '..'],
  ['alg none, unsigned', () => `${text({ alg: 'none' })}.${text(claims())}.`],
  ['alg None, unsigned, with a kid', () => `${text({ alg: 'None', kid: keys.es.kid })}.${text(claims())}.`],
  ['alg none with a signature', () => changed(0, () => text({ alg: 'none', kid: keys.es.kid }))],
  ['no alg', () => changed(0, () => text({ kid: keys.es.kid }))],
  ['alg in small letters', () => changed(0, () => text({ alg: 'es256', kid: keys.es.kid }))],
  ['alg as a number', () => changed(0, () => text({ alg: 256, kid: keys.es.kid }))],
  [
    'HS256 with the public key for a secret',
    async () => hmac(await exportSPKI(keys.rs.publicKey), { alg: 'HS256', kid: keys.rs.kid }),
  ],
  [
    'HS256 with the modulus for a secret',
    () => hmac(Buffer.from(keys.rs.public.n, 'base64url'), { alg: 'HS256', kid: keys.rs.kid }),
  ],
  ['HS256 with an empty secret', () => hmac('', { alg: 'HS256', kid: keys.es.kid })],
  ['RS384 by a published key', () => sign(claims(), { key: keys.rs384 })],
  ['PS256 by a published key', () => sign(claims(), { key: keys.ps })],
  ['ES384 by a published key', () => sign(claims(), { key: keys.es384 })],
  ['EdDSA by a published key', () => sign(claims(), { key: keys.ed })],
  ['a key that is not published', () => sign(claims(), { key: keys.strange })],
  [
    'a key that is not published, under the kid of one that is',
    () => sign(claims(), { key: keys.strange, header: { kid: keys.es.kid } }),
  ],
  [
    'a key that is not published, in the header',
    () => sign(claims(), { key: keys.strange, header: { jwk: keys.strange.public } }),
  ],
  [
    'a key that is not published, by an address in the header',
    () => sign(claims(), { key: keys.strange, header: { jku: `${iss}/strange` } }),
  ],
  ['a kid of the other algorithm', () => sign(claims(), { header: { kid: keys.rs.kid } })],
  ['a kid that is a path', () => sign(claims(), { header: { kid: '../../etc/passwd' } })],
  ['an empty kid', () => sign(claims(), { header: { kid: '' } })],
  ['a long kid', () => sign(claims(), { header: { kid: 'k'.repeat(2_000) } })],
  [
    'a critical extension that nobody knows',
    () => changed(0, () => text({ alg: 'ES256', kid: keys.es.kid, crit: ['exp'], exp: 1 })),
  ],
  ['an empty list of critical extensions', () => changed(0, () => text({ alg: 'ES256', kid: keys.es.kid, crit: [] }))],
  ['the compression of JWE', () => changed(0, () => text({ alg: 'ES256', kid: keys.es.kid, zip: 'DEF' }))],
  ['claims beyond measure', () => sign(claims({ pad: 'x'.repeat(5_000) }))],
  ['claims in each other, a hundred deep', () => changed(1, () => text(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`))],
];

before(async () => {
  const pair = async (alg, published = true) => {
    const { privateKey, publicKey } = await generateKeyPair(alg, { extractable: true });
    const kid = `key-${Object.keys(keys).length}-${alg}`;
    return {
      alg,
      kid,
      privateKey,
      publicKey,
      published,
      public: { ...(await exportJWK(publicKey)), kid, alg, use: 'sig' },
    };
  };
  for (const [name, alg] of Object.entries({
    es: 'ES256',
    es2: 'ES256',
    rs: 'RS256',
    rs384: 'RS384',
    ps: 'PS256',
    es384: 'ES384',
    ed: 'EdDSA',
  }))
    keys[name] = await pair(alg);
  keys.strange = await pair('ES256', false);
  const published = {
    keys: Object.values(keys)
      .filter((key) => key.published)
      .map((key) => key.public),
  };
  jwks = createLocalJWKSet(published);
  const server = http.createServer((request, response) => {
    response.setHeader('content-type', 'application/json');
    response.end(
      JSON.stringify(
        request.url === '/jwks'
          ? published
          : request.url === '/strange'
            ? { keys: [keys.strange.public] }
            : { issuer: iss, jwks_uri: `${iss}/jwks` },
      ),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  scope.after(
    () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(resolve);
      }),
  );
  iss = `http://127.0.0.1:${server.address().port}`;
  bridge = await startBridge(scope, {
    cloudUrl: 'http://127.0.0.1:9',
    args: ['--identity-trusted', `${iss} ${AUDIENCE}`],
  });
  api = new Client(bridge.url);
});

// Whether `jose` takes it, with what spec 7.1 asks besides: a subject that is a text and not empty; and RFC 7515 (section 2), by which
// base64url has no padding: `jose` passes over some.
async function judged(token) {
  if (!/^[\w.-]*$/.test(token)) return false;
  try {
    const { payload } = await jwtVerify(token, jwks, {
      algorithms: ['RS256', 'ES256'],
      issuer: iss,
      audience: AUDIENCE,
      clockTolerance: 60,
      requiredClaims: ['sub', 'exp', 'iat'],
      maxTokenAge: '100y',
    });
    return typeof payload.sub === 'string' && payload.sub !== '';
  } catch {
    return false;
  }
}

test('the table is what jose says, and 401 for all that is wrong', async () => {
  const verdicts = { true: 0, false: 0 };
  const wrong = [];
  for (const [what, make] of TABLE) {
    const token = await make();
    const good = await judged(token);
    const began = performance.now();
    const answer = await api.get('/api/account', { headers: { authorization: `Bearer ${token}` } });
    const took = performance.now() - began;
    ++verdicts[good];
    if (answer.status !== (good ? 200 : 401))
      wrong.push(`${what}: ${answer.status}, where jose ${good ? 'takes' : 'refuses'} it`);
    if (!good && answer.json?.error?.code !== 'UNAUTHORIZED') wrong.push(`${what}: ${answer.text}`);
    if (took > SLOW_MS) wrong.push(`${what}: ${Math.round(took)} ms`);
  }
  assert.deepEqual(wrong, []);
  assert.ok(TABLE.length >= 60 && verdicts.true >= 12 && verdicts.false >= 45, JSON.stringify(verdicts));
});

test('what is wrong is told apart neither by words nor by what was looked up', async () => {
  const answers = new Set();
  for (const token of [
    await sign(claims({ exp: 1 })),
    await sign(claims(), { key: keys.strange }),
    'x',
    `${text({ alg: 'none' })}.${text(claims())}.`,
  ]) {
    const { status, json } = await api.get('/api/account', { headers: { authorization: `Bearer ${token}` } });
    answers.add(JSON.stringify([status, json.error.code, json.error.message]));
  }
  assert.equal(answers.size, 1, [...answers].join('\n'));
});

test('tokens found as many accounts as strangers may, and open as often as they like', async (t) => {
  const few = await startBridge(t, {
    cloudUrl: 'http://127.0.0.1:9',
    args: [
      '--identity-trusted',
      `${iss} ${AUDIENCE}`,
      '--identity-signups-per-hour',
      '3',
      '--credits-signup-credits',
      '10',
    ],
  });
  const one = new Client(few.url);
  const account = async (sub) =>
    one.get('/api/account', { headers: { authorization: `Bearer ${await sign(claims({ sub }))}` } });
  for (const sub of ['one', 'two', 'one', 'three', 'two']) assert.equal((await account(sub)).status, 200, sub);
  for (const sub of ['four', 'five', 'four']) {
    const refused = await account(sub);
    assert.deepEqual([refused.status, refused.json.error.code], [429, 'RATE_LIMIT_EXCEEDED'], sub);
    assert.ok(Number(refused.headers['retry-after']) > 60);
  }
  assert.equal((await account('three')).status, 200);
});
