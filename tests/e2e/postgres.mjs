// A PostgreSQL cluster of this process, started for the first database that is asked for, and gone when the process is,
// however that ends (tools/postgres_cluster.sh).
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import readline from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const PSQL = '/usr/lib/postgresql/15/bin/psql';
const SCRIPT = fileURLToPath(new URL('../../tools/postgres_cluster.sh', import.meta.url));
const run = promisify(execFile);

export class Cluster {
  // `settings`: of the server, as "name=value". `standby`: with a second server, see failOver().
  static async start({ settings = [], standby = false } = {}) {
    const child = spawn(SCRIPT, [...(standby ? ['--standby'] : []), ...settings], {
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    const lines = readline.createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const died = once(child, 'exit').then(([code]) => {
      throw new Error(`the PostgreSQL cluster did not start (exit ${code})`);
    });
    const line = async () => (await lines.next()).value;
    const url = await Promise.race([line(), died]);
    await line(); // by TCP, with a password
    died.catch(() => {});
    for (const handle of [child, child.stdin, child.stdout]) handle.unref();
    return new Cluster(child, url, line);
  }

  #databases = 0;
  #line;
  constructor(child, url, line) {
    Object.assign(this, { child, adminUrl: url });
    this.#line = line;
  }

  // Ends the server as a power cut would, and starts it again.
  restart() {
    return this.#command('restart', 'restarted');
  }
  // Kills the server, and has the standby, which each commit waited for, take its place.
  failOver() {
    return this.#command('fail over', 'failed over');
  }
  // The server keeps its connections and does nothing, until thaw().
  freeze() {
    return this.#command('freeze', 'frozen');
  }
  thaw() {
    return this.#command('thaw', 'thawed');
  }
  async #command(command, done) {
    this.child.stdout.ref();
    this.child.stdin.write(`${command}\n`);
    const answer = await this.#line();
    this.child.stdout.unref();
    if (answer !== done) throw new Error(`the PostgreSQL cluster did not ${command}: ${answer}`);
  }

  // A connection string of a database.
  url(database) {
    return this.adminUrl.replace('/postgres?', `/${database}?`);
  }
  // A new, empty one: its connection string.
  async database() {
    const name = `e2e_${++this.#databases}`;
    await this.sql(`CREATE DATABASE ${name}`);
    return this.url(name);
  }
  // A new one of an owner of its own, who is no superuser, and two roles that may log in and nothing else:
  // {role, as}: the name and the connection string of "owner", "api" and "worker".
  async databaseWithRoles() {
    const name = `e2e_${++this.#databases}`;
    const role = (which) => `${name}-${which}`;
    for (const which of ['owner', 'api', 'worker']) await this.sql(`CREATE ROLE "${role(which)}" LOGIN`);
    await this.sql(`CREATE DATABASE ${name} OWNER "${role('owner')}"`);
    return { role, as: (which) => this.url(name).replace('user=postgres', `user=${role(which)}`) };
  }
  // Runs statements, each on its own, in a database; what they print.
  async sql(text, url = this.adminUrl) {
    const { stdout } = await run(PSQL, ['-X', '-q', '-A', '-t', '-v', 'ON_ERROR_STOP=1', '-d', url, '-c', text], {
      timeout: 60_000,
    });
    return stdout.trim();
  }
}

// The folder of the whole cluster of one of our connection strings, its log of transactions included.
export function folderOf(url) {
  return (
    url && `${new URL(url.replace('postgresql:///', 'postgresql://x/')).searchParams.get('host').split(',')[0]}/data`
  );
}

let own;
// The cluster of this process; the first caller says how it starts.
export function cluster(options) {
  return (own ??= Cluster.start(options));
}
// A new database in it.
export async function newDatabase() {
  return (await cluster()).database();
}
