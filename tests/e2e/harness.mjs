// The base of every end-to-end test: the real programs on free ports with folders of their own, and an HTTP client
// whose every wait has a deadline. `scope` is a node:test context, or anything else with after(callback): what is made
// in a scope goes away with it.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdtemp, rm } from 'node:fs/promises';
import http from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { spawnTied } from '../../tools/tied.mjs';
import { folderOf, newDatabase } from './postgres.mjs';

// The storage of this run's services: sqlite, or postgres, with a database for each data directory.
export const ENGINE = process.env.PRESETBRIDGE_E2E_ENGINE ?? 'sqlite';
const databases = new Map(); // by data directory: the settings by which a program finds it

const START_MS = 20_000;
const STOP_MS = 15_000; // the bridge promises 10 s (spec 12.3)
const REQUEST_MS = 10_000;
const LOG_LINES = 5_000;
// How a sanitizer begins a report. It may come from a child of the program, whose exit code nobody sees.
const SANITIZER_REPORT = /(ERROR|WARNING): \w+Sanitizer|: runtime error: /;
const REPORT_LINES = 150;

// Asks `probe` until it returns something truthy, and returns that. Errors of `probe` count as "not yet".
export async function until(what, probe, deadlineMs = 10_000) {
  const end = performance.now() + deadlineMs;
  let last;
  for (let pause = 5; ; pause = Math.min(pause * 2, 200)) {
    try {
      last = await probe();
      if (last) return last;
    } catch (error) {
      last = error;
    }
    if (performance.now() + pause > end) {
      throw new Error(`${what}: not within ${deadlineMs} ms; last seen: ${last?.stack ?? JSON.stringify(last)}`);
    }
    await delay(pause);
  }
}

// Settles as `promise` does, or fails when the deadline passes first.
export async function within(what, promise, deadlineMs) {
  const abort = new AbortController();
  const late = delay(deadlineMs, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`${what}: not within ${deadlineMs} ms`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    abort.abort();
    late.catch(() => {});
  }
}

// A scope of which what was made last goes away first. Every closer runs, also after one that failed. Closed with
// `context` (a test), or by hand.
export class Scope {
  #closers = [];

  constructor(context) {
    context?.after(() => this.close());
  }
  after(closer) {
    this.#closers.push(closer);
  }
  async close() {
    const errors = [];
    while (this.#closers.length > 0) {
      try {
        await this.#closers.pop()();
      } catch (error) {
        errors.push(error);
      }
    }
    if (errors.length > 0)
      throw errors.length === 1 ? errors[0] : new AggregateError(errors, errors.map(String).join('\n'));
  }
}

// A folder for this scope alone.
export async function scratch(scope) {
  const folder = await mkdtemp(path.join(tmpdir(), 'presetbridge-e2e-'));
  scope.after(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

// A running program. `log` holds the last lines of both its outputs; `ended` resolves to {code, signal} when it and its children
// are gone.
export class Program {
  url; // once it listens
  #report = []; // a sanitizer's report, and the lines after it

  // The program dies with this process, also when this process is killed.
  constructor(name, binary, args, { env = {} } = {}) {
    if (!binary)
      throw new Error(`where is ${name}? Run ./dev test, or set ${name.toUpperCase()}_BIN to the built program`);
    this.name = name;
    this.log = [];
    this.child = spawnTied('KILL', binary, args, {
      env: { PATH: process.env.PATH, ...sanitizerOptions(), ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const keep = (line) => {
      this.log.push(line);
      if (this.log.length > LOG_LINES) this.log.shift();
      const told = this.#report.length;
      if (told < REPORT_LINES && (told > 0 || SANITIZER_REPORT.test(line))) this.#report.push(line);
    };
    this.stdout = readline.createInterface({ input: this.child.stdout });
    this.stdout.on('line', keep);
    readline.createInterface({ input: this.child.stderr }).on('line', keep);
    this.ended = new Promise((resolve) => {
      this.child.once('error', (error) => resolve({ code: null, signal: String(error) }));
      this.child.once('close', (code, signal) => resolve({ code, signal }));
    });
  }

  get pid() {
    return this.child.pid;
  }
  get running() {
    return this.child.exitCode === null && this.child.signalCode === null && this.pid !== undefined;
  }
  tail(count = 40) {
    return `--- last lines of ${this.name}:\n${this.log.slice(-count).join('\n')}\n---`;
  }

  // Waits for the line {"listening":"http://..."} on its standard output.
  async listening() {
    const address = new Promise((resolve) => {
      this.stdout.on('line', (line) => {
        if (!line.startsWith('{"listening"')) return;
        this.ready = JSON.parse(line);
        resolve(this.ready.listening);
      });
    });
    const died = this.ended.then(({ code, signal }) => {
      throw new Error(`${this.name} ended before it listened (${signal ?? `exit ${code}`})`);
    });
    try {
      this.url = await within(`${this.name} listens`, Promise.race([address, died]), START_MS);
    } catch (error) {
      throw new Error(`${error.message}\n${this.tail()}`);
    } finally {
      died.catch(() => {});
    }
    return this;
  }

  // SIGTERM, and a clean exit in time; anything else is an error.
  async stop() {
    if (this.running) this.child.kill('SIGTERM');
    let end;
    try {
      end = await within(`${this.name} stops after SIGTERM`, this.ended, STOP_MS);
    } catch (error) {
      this.child.kill('SIGKILL');
      throw new Error(`${error.message}\n${this.tail()}`);
    }
    this.#judge();
    if (end.code !== 0) throw new Error(`${this.name} ended with ${end.signal ?? `exit ${end.code}`}\n${this.tail()}`);
  }

  // Kills the program, as a power cut does.
  async kill() {
    this.killed = true;
    this.child.kill('SIGKILL');
    await within(`${this.name} is gone after SIGKILL`, this.ended, STOP_MS);
    this.#judge();
  }

  // Throws a sanitizer's report, once.
  #judge() {
    const report = this.#report.splice(0);
    if (report.length > 0) throw new Error(`a sanitizer found fault with ${this.name}:\n${report.join('\n')}`);
  }
}

function sanitizerOptions() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => /^[A-Z]+SAN_OPTIONS$/.test(name)));
}

// Programs with that data directory stand on this database from now on.
export function useDatabase(dataDir, url) {
  databases.set(dataDir, url);
}

// A data directory for one more node of the service at `dataDir`: the same database and keys, or none yet.
export async function dataDirBeside(scope, dataDir, { keys = true } = {}) {
  const folder = await scratch(scope);
  await databaseOf(dataDir); // the first start may be yet to come
  databases.set(folder, databases.get(dataDir));
  if (!keys) return folder;
  for (const name of ['service.key', 'vault.key', 'vault.pub'])
    await copyFile(path.join(dataDir, name), path.join(folder, name));
  return folder;
}

// The environment that leads a program to the database of that data directory.
async function databaseOf(folder) {
  if (ENGINE !== 'postgres') return {};
  if (!databases.has(folder)) databases.set(folder, newDatabase());
  // The port changes with each start, and the name that people are known by must not.
  return { PRESETBRIDGE_DATABASE_URL: await databases.get(folder), PRESETBRIDGE_IDENTITY_ISSUER: 'http://127.0.0.1' };
}

async function start(scope, program) {
  scope.after(() => (program.killed ? program.ended : program.stop()));
  return program.listening();
}

// The simulated cloud platform. Returns the program; its `url` is what the bridge takes as --cloud-url.
export function startCloudsim(scope, { args = [], env } = {}) {
  return start(scope, new Program('cloudsim', process.env.CLOUDSIM_BIN, ['--port', '0', ...args], { env }));
}

// The simulated payment processor. Its `ready` is the line that it began with; its `url` is Stripe's base URL for the bridge.
export function startPaysim(scope, { args = [] } = {}) {
  return start(scope, new Program('paysim', process.env.PAYSIM_BIN, ['--port', '0', ...args]));
}

// The bridge, ready for requests. `program`: the binary. `under`: the words of a command that starts it. `dataDir` lets a second one take over what a first one left (default: a new folder).
export async function startBridge(
  scope,
  {
    cloudUrl,
    dataDir,
    listen = '127.0.0.1:0',
    sandbox = true,
    args = [],
    env,
    program = process.env.PRESETBRIDGE_BIN,
    under = [],
  } = {},
) {
  const folder = dataDir ?? (await scratch(scope));
  const options = ['serve', '--data-dir', folder, '--listen', listen];
  if (sandbox) options.push('--sandbox');
  if (cloudUrl) options.push('--cloud-url', cloudUrl);
  const surroundings = { ...(await databaseOf(folder)), ...env };
  const [binary, ...words] = [...under, program];
  const bridge = await start(
    scope,
    new Program('presetbridge', binary, [...words, ...options, ...args], { env: surroundings }),
  );
  bridge.dataDir = folder;
  bridge.databaseUrl = surroundings.PRESETBRIDGE_DATABASE_URL; // where it is not in the data directory
  bridge.databaseFolder = folderOf(bridge.databaseUrl);
  const client = new Client(bridge.url);
  await until('the bridge is ready', async () => (await client.get('/readyz')).status === 200, START_MS);
  return bridge;
}

// Runs a verb of the program to its end: {code, stdout, stderr}.
export async function runBridge(args, { env = {}, input = '', deadlineMs = START_MS, under = [] } = {}) {
  const folder = args[args.indexOf('--data-dir') + 1];
  const database = args.includes('--data-dir') && databases.has(folder) ? await databaseOf(folder) : {};
  const [binary, ...words] = [...under, process.env.PRESETBRIDGE_BIN];
  const child = spawn(binary, [...words, ...args], {
    env: { PATH: process.env.PATH, ...sanitizerOptions(), ...database, ...env },
    timeout: deadlineMs,
    killSignal: 'SIGKILL',
  });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr']) child[name].setEncoding('utf8').on('data', (text) => (texts[name] += text));
  child.stdin.on('error', () => {}); // a program that does not read its input
  child.stdin.end(input);
  const [code, signal] = await once(child, 'close');
  if (signal) throw new Error(`presetbridge ${args.join(' ')} ended with ${signal}\n${texts.stderr}`);
  if (SANITIZER_REPORT.test(texts.stderr))
    throw new Error(`a sanitizer found fault with presetbridge ${args.join(' ')}:\n${texts.stderr}`);
  return { code, ...texts };
}

// An HTTP client of one server: a new connection for each request, redirects not followed, any status an answer.
export class Client {
  // `url`: or a function that says where the next request goes. `headers` go with every request; `check` sees every answer, and
  // may throw (see contract.mjs).
  constructor(url, { headers = {}, check = () => {} } = {}) {
    this.url = url;
    this.headers = headers;
    this.check = check;
  }
  with(headers) {
    return new Client(this.url, { headers: { ...this.headers, ...headers }, check: this.check });
  }

  // `json` is sent as JSON, `body` (text or bytes) as it is. The answer: {method, path, status, headers, text, json},
  // where `json` is absent unless the content type says JSON.
  async request(
    method,
    target,
    { json, body = json === undefined ? undefined : JSON.stringify(json), headers = {}, deadlineMs = REQUEST_MS } = {},
  ) {
    const answer = { method, path: target };
    try {
      const request = http.request(new URL(target, typeof this.url === 'function' ? this.url() : this.url), {
        method,
        agent: false,
        signal: AbortSignal.timeout(deadlineMs),
        headers: {
          ...(json === undefined ? {} : { 'content-type': 'application/json' }),
          ...(body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }),
          ...this.headers,
          ...headers,
        },
      });
      request.end(body);
      const [response] = await once(request, 'response');
      const chunks = [];
      // Of server-sent events, which do not end, the first.
      const events = response.headers['content-type'] === 'text/event-stream';
      for await (const chunk of response) {
        chunks.push(chunk);
        if (events && Buffer.concat(chunks).includes('\n\n')) break;
      }
      Object.assign(answer, {
        status: response.statusCode,
        headers: response.headers,
        text: Buffer.concat(chunks).toString(),
      });
      if (/^application\/(.*\+)?json\b/.test(response.headers['content-type'] ?? ''))
        answer.json = JSON.parse(answer.text);
    } catch (error) {
      const { name, code } = error;
      const what = name === 'AbortError' ? `no whole answer within ${deadlineMs} ms` : error.message;
      throw Object.assign(new Error(`${method} ${target}: ${what}`, { cause: error }), { name, code });
    }
    this.check(answer);
    return answer;
  }
  get(target, options) {
    return this.request('GET', target, options);
  }
  post(target, json, options) {
    return this.request('POST', target, { json, ...options });
  }
  put(target, json, options) {
    return this.request('PUT', target, { json, ...options });
  }
  patch(target, json, options) {
    return this.request('PATCH', target, { json, ...options });
  }
  delete(target, options) {
    return this.request('DELETE', target, options);
  }
}
