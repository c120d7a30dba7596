// An SMTP server that an independent library speaks (smtp-server), which reads the mails that the service sends with another one (mailparser).
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { simpleParser } from 'mailparser';
import { SMTPServer } from 'smtp-server';
import { scratch, until } from './harness.mjs';

const USER = 'bridge';
const SECRET = 'planted-mail-password-7';
const FROM = 'bridge@mail.example';
const WAIT_MS = 30_000;

export class Mailbox {
  mails = []; // {to, from, secure, user, subject, text, headers}
  refuses = new Set(); // addresses that are refused for good

  // With a certificate that only `args` make known.
  static async start(scope) {
    const it = new Mailbox();
    it.folder = await scratch(scope);
    const file = (name) => path.join(it.folder, name);
    await promisify(execFile)('openssl', [
      ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'],
      ...['-keyout', file('key'), '-out', file('certificate'), '-subj', '/CN=mail.test'],
      ...['-addext', 'subjectAltName=IP:127.0.0.1'],
    ]);
    it.tls = { key: await readFile(file('key')), cert: await readFile(file('certificate')) };
    it.certificate = file('certificate');
    await it.open();
    scope.after(() => it.close());
    return it;
  }

  // On the port of before, if there is one.
  async open() {
    this.server = new SMTPServer({
      ...this.tls,
      authMethods: ['PLAIN', 'LOGIN'],
      disableReverseLookup: true,
      onAuth: ({ username, password }, _, done) =>
        username === USER && password === SECRET ? done(null, { user: username }) : done(new Error('wrong login')),
      onRcptTo: ({ address }, _, done) =>
        this.refuses.has(address) ? done(Object.assign(new Error('no such mailbox'), { responseCode: 550 })) : done(),
      onData: (stream, session, done) =>
        void simpleParser(stream).then((mail) => {
          const { mailFrom, rcptTo } = session.envelope;
          this.mails.push({
            to: rcptTo.map(({ address }) => address).join(),
            from: mailFrom.address,
            secure: session.secure,
            user: session.user,
            mail,
          });
          done();
        }, done),
    });
    this.server.on('error', () => {}); // a client that hung up
    this.server.listen(this.port ?? 0, '127.0.0.1');
    await once(this.server.server, 'listening');
    this.port = this.server.server.address().port;
  }
  async close() {
    const server = this.server;
    this.server = undefined;
    if (server) await new Promise((done) => server.close(done));
  }

  // Returns the service's arguments that send mail here, and writes the password into the data directory.
  async args(dataDir, { certificate = this.certificate } = {}) {
    await writeFile(path.join(dataDir, 'mail.password'), `${SECRET}\n`, { mode: 0o600 });
    return [
      ...['--mail-url', `smtp://127.0.0.1:${this.port}`, '--mail-user', USER, '--mail-from', FROM],
      ...['--mail-from-name', 'Tøne Bridge', ...(certificate ? ['--mail-ca-file', certificate] : [])],
    ];
  }
  get secret() {
    return SECRET;
  }

  of(address) {
    return this.mails.filter(({ to }) => to === address);
  }
  // The newest mail to that address, once there are so many.
  async newest(address, count = 1, deadlineMs = WAIT_MS) {
    await until(`mail ${count} to ${address}`, () => this.of(address).length >= count, deadlineMs);
    assert.equal(this.of(address).length, count, `mails to ${address}`);
    return this.of(address).at(-1);
  }
}

// The link in a mail, and the token in it.
export function linkOf({ mail }, page) {
  const [link] = /https?:\/\/\S+#\S+/.exec(mail.text) ?? [];
  assert.ok(link, mail.text);
  const url = new URL(link);
  assert.equal(url.pathname, page, link);
  assert.match(url.hash, /^#[\w-]{32}$/);
  return { url: link, token: url.hash.slice(1) };
}
