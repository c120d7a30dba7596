// The client of demo_past (main.cpp): the service and its two simulators in one process, on a clock that only advance() moves.
import { once } from 'node:events';
import readline from 'node:readline';
import { spawnTied } from '../tools/tied.mjs';

export class Past {
  #waiting = [];
  #errors = [];

  // In an empty data folder, beginning at `start` (ms since 1970).
  static begin(program, { dataDir, start, seed = 1, packs = [] }) {
    const it = new Past();
    it.now = start;
    const args = [
      '--data-dir',
      dataDir,
      '--start',
      String(start),
      '--seed',
      String(seed),
      ...packs.flatMap((pack) => ['--credits-packs', pack]),
    ];
    it.child = spawnTied('KILL', program, args, { env: { PATH: process.env.PATH }, stdio: ['pipe', 'pipe', 'pipe'] });
    it.child.stdin.on('error', () => {});
    readline.createInterface({ input: it.child.stderr }).on('line', (line) => it.#errors.push(line));
    readline
      .createInterface({ input: it.child.stdout })
      .on('line', (line) => it.#waiting.shift()?.resolve(JSON.parse(line)));
    it.ended = once(it.child, 'close').then(([code, signal]) => {
      for (const { reject } of it.#waiting.splice(0))
        reject(new Error(`demo_past ended (${signal ?? code}): ${it.#errors.join('\n')}`));
      return code;
    });
    return it;
  }

  async #command(command) {
    const answer = await new Promise((resolve, reject) => {
      this.#waiting.push({ resolve, reject });
      this.child.stdin.write(`${JSON.stringify(command)}\n`);
    });
    if (answer.error) throw new Error(`${JSON.stringify(command).slice(0, 300)}: ${answer.error}`);
    return answer;
  }

  // The answer of any status: {status, json}.
  async ask(whom, method, path, body, headers = {}) {
    const text = body === undefined ? '' : typeof body === 'string' ? body : JSON.stringify(body);
    const sent = body === undefined ? headers : { 'content-type': 'application/json', ...headers };
    const { status, body: answer } = await this.#command({ ask: whom, method, path, headers: sent, body: text });
    return { status, json: answer.startsWith('{') ? JSON.parse(answer) : undefined, text: answer };
  }
  // The body of the answer, which has to be a success.
  async must(whom, method, path, body, headers) {
    const answer = await this.ask(whom, method, path, body, headers);
    if (answer.status >= 300)
      throw new Error(
        `${whom}: ${method} ${path} ${JSON.stringify(body)?.slice(0, 300)} was answered ${answer.status}: ${answer.text}`,
      );
    return answer.json;
  }
  async until(time) {
    if (time > this.now) ({ now: this.now } = await this.#command({ advance: Math.round(time - this.now) }));
  }
  grant(account, credits, note) {
    return this.#command({ grant: { account, credits, note } });
  }
  receiver(answer) {
    return this.#command({ receiver: answer });
  }
  trouble(calls) {
    return this.#command({ trouble: calls });
  }
  // Ends demo_past, after which the service may open the folder.
  async end() {
    this.child.stdin.end();
    if ((await this.ended) !== 0) throw new Error(`demo_past failed:\n${this.#errors.join('\n')}`);
  }
}
