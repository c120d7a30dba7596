// Starts the programs of a demonstration, waits for them and stops them in order. They die with this process.
import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import readline from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { spawnTied } from '../tools/tied.mjs';

export const START_MS = 20_000;
const STOP_MS = 12_000;
const LOCKED = 75; // flock's exit code if the lock is taken
export const FOLDER = path.resolve('build/demo');
const began = performance.now();
const running = [];
let stopping = false;

export const say = (text = '') => console.log(text);
export const step = (text) => say(`${((performance.now() - began) / 1000).toFixed(1).padStart(6)} s  ${text}`);

// Starts a program of this project, which dies with this process. Its settings are flags: its environment has only PATH and `env`.
export function start(name, binary, args, env = {}) {
  const child = spawnTied('TERM', binary, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true, // Ctrl-C is for this script, which stops the programs in order
  });
  const program = { name, child, errors: [], lines: readline.createInterface({ input: child.stdout }) };
  readline.createInterface({ input: child.stderr }).on('line', (line) => {
    program.errors.push(line);
    if (program.errors.length > 30) program.errors.shift();
  });
  program.ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', (code, signal) => resolve(signal ?? `exit ${code}`));
  });
  program.ended.then((outcome) => {
    if (!stopping) fail(`${name} ended by itself (${outcome}):\n${program.errors.join('\n')}`);
  });
  running.push(program);
  return program;
}

// Locks the folder until this process ends in any way: that ends the input of `cat`, hence `cat`, hence the lock. If another
// demonstration holds the lock, this process says so and exits.
export async function lockFolder() {
  await mkdir(path.dirname(FOLDER), { recursive: true });
  const child = spawn('flock', ['--timeout', '3', '--conflict-exit-code', String(LOCKED), `${FOLDER}.lock`, 'cat'], {
    stdio: ['pipe', 'pipe', 'inherit'],
    detached: true, // Ctrl-C is for this script
  });
  child.stdin.on('error', () => {});
  const ended = new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', resolve);
  });
  const held = new Promise((resolve) => child.stdout.once('data', () => resolve('held')));
  child.stdin.write('held\n');
  const outcome = await limited('the lock of the folder', START_MS, Promise.race([held, ended]));
  if (outcome === LOCKED) {
    console.error(
      `demo: another ./dev run is at work in ${path.relative('.', FOLDER)}; stop it first (Ctrl-C where it runs).`,
    );
    process.exit(1);
  }
  if (outcome !== 'held') throw new Error(`${FOLDER}.lock cannot be locked (${outcome})`);
  child.unref();
}

export function listening(program) {
  return limited(
    `${program.name} listens`,
    START_MS,
    new Promise((resolve) => {
      program.lines.on('line', (line) => {
        if (line.startsWith('{"listening"')) resolve(JSON.parse(line).listening);
      });
    }),
  );
}

export async function limited(what, ms, promise) {
  const abort = new AbortController();
  const late = delay(ms, undefined, { signal: abort.signal }).then(() => {
    throw new Error(`${what}: not within ${ms / 1000} s`);
  });
  try {
    return await Promise.race([promise, late]);
  } finally {
    abort.abort();
    late.catch(() => {});
  }
}

// Runs a verb to its end, and returns its standard output.
export async function run(bridge, args, env = {}) {
  const child = spawn(bridge, args, {
    env: { PATH: process.env.PATH, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: 30_000,
  });
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => (output += text));
  child.stderr.setEncoding('utf8').on('data', (text) => (errors += text));
  const code = await new Promise((resolve) => {
    child.once('error', (error) => resolve(String(error)));
    child.once('close', resolve);
  });
  if (code !== 0) throw new Error(`presetbridge ${args.slice(0, 2).join(' ')} failed (${code}): ${errors}${output}`);
  return output;
}

export async function stopAll() {
  stopping = true;
  for (const program of running.reverse()) {
    if (program.child.exitCode !== null || program.child.signalCode !== null) continue;
    program.child.kill('SIGTERM');
    try {
      await limited(`${program.name} stops`, STOP_MS, program.ended);
    } catch (error) {
      program.child.kill('SIGKILL');
      console.error(`demo: ${error.message}`);
      process.exitCode = 1;
    }
  }
}

let failing = false;
export async function fail(message) {
  if (failing) return;
  failing = true;
  console.error(`\ndemo: ${message}`);
  process.exitCode = 1;
  await stopAll();
  process.exit(1);
}

// Starts the simulated bank, and writes its secrets to the data folder. sendTo(url) sets the bridge to which it sends its webhooks.
export async function startBank(program, dataDir) {
  const key = `sk_test_${randomBytes(12).toString('hex')}`;
  const secret = `whsec_${randomBytes(24).toString('hex')}`;
  const url = await listening(
    start('paysim', program, ['--port', '0', '--secret-key', key, '--webhook-secret', secret]),
  );
  await mkdir(dataDir, { recursive: true, mode: 0o700 });
  await writeFile(path.join(dataDir, 'payments.key'), `${key}\n`, { mode: 0o600 });
  await writeFile(path.join(dataDir, 'payments.webhook'), `${secret}\n`, { mode: 0o600 });
  const sendTo = async (bridge) => {
    const answer = await fetch(`${url}/sim/webhooks`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ url: `${bridge}/api/payments/webhook`, secrets: [secret] }),
      signal: AbortSignal.timeout(START_MS),
    });
    if (!answer.ok) throw new Error(`paysim does not take the bridge's address: ${await answer.text()}`);
  };
  return { url, sendTo };
}
