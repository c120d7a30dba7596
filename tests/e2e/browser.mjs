// A browser as far as sessions are concerned: a jar of cookies with the rules of Secure, __Host-, HttpOnly and SameSite, the headers that
// a browser adds by itself (Origin, Sec-Fetch-Site), and navigation through redirects. Ports do not part sites, as in browsers.
import assert from 'node:assert/strict';
import { Client } from './harness.mjs';

const site = (url) => `${url.protocol}//${url.hostname}`;

export class Browser {
  #cookies = []; // {name, value, host, secure, httpOnly, sameSite}

  // `origins`: where requests to an origin really go, for one that is only a name ({'https://bridge.example': 'http://127.0.0.1:1'}).
  // `check`: sees every answer, and the URL that was asked.
  constructor({
    origins = {},
    check = () => {},
    userAgent = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0',
  } = {}) {
    Object.assign(this, { origins, check, userAgent });
  }

  cookie(name) {
    return this.#cookies.find((one) => one.name === name);
  }
  // The browser of a thief who has copied the jar.
  stolen() {
    const thief = new Browser({ origins: this.origins, check: this.check, userAgent: 'curl/8.1' });
    thief.#cookies = this.#cookies.map((one) => ({ ...one }));
    return thief;
  }

  #take(url, answer) {
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [pair, ...rest] = line.split('; ');
      const attributes = new Map(rest.map((one) => [one.split('=')[0].toLowerCase(), one.split('=')[1] ?? true]));
      const cookie = {
        name: pair.slice(0, pair.indexOf('=')),
        value: pair.slice(pair.indexOf('=') + 1),
        host: url.hostname,
        secure: attributes.has('secure'),
        httpOnly: attributes.has('httponly'),
        sameSite: attributes.get('samesite'),
        path: attributes.get('path') ?? '/',
      };
      const trusted = url.protocol === 'https:' || ['127.0.0.1', 'localhost', '[::1]'].includes(url.hostname);
      if (cookie.secure && !trusted) continue;
      if (cookie.name.startsWith('__Host-'))
        assert.ok(cookie.secure && cookie.path === '/' && !attributes.has('domain'), line);
      this.#cookies = this.#cookies.filter((one) => one.name !== cookie.name || one.host !== cookie.host);
      if (Number(attributes.get('max-age') ?? 1) > 0 && !(Date.parse(attributes.get('expires')) < Date.now()))
        this.#cookies.push(cookie);
    }
  }

  // One request. `from`: the origin of the page that makes it; none: a person typed the address. `navigation`: the page itself goes there.
  async request(method, url, { from, navigation = false, crossed = false, headers = {}, ...options } = {}) {
    url = new URL(url);
    const same = from === undefined || site(new URL(from)) === site(url);
    const sent = this.#cookies.filter((one) => {
      if (one.host !== url.hostname || !url.pathname.startsWith(one.path)) return false;
      if (same && !crossed) return true;
      return one.sameSite !== 'Strict' && navigation && method === 'GET';
    });
    const where =
      from === undefined
        ? 'none'
        : new URL(from).origin === url.origin
          ? 'same-origin'
          : same
            ? 'same-site'
            : 'cross-site';
    const client = new Client(this.origins[url.origin] ?? url.origin, { check: (one) => this.check(one, url) });
    const answer = await client.request(method, `${url.pathname}${url.search}`, {
      ...options,
      headers: {
        'user-agent': this.userAgent,
        'sec-fetch-site': where,
        ...(from !== undefined && method !== 'GET' ? { origin: new URL(from).origin } : {}),
        ...(sent.length > 0 ? { cookie: sent.map((one) => `${one.name}=${one.value}`).join('; ') } : {}),
        ...headers,
      },
    });
    this.#take(url, answer);
    return { ...answer, url };
  }

  // Goes there, through all redirects: {...answer, url, redirects}.
  async go(url, { from, method = 'GET', body, headers = {}, stopAt = () => false } = {}) {
    const redirects = [];
    let crossed = false;
    for (let next = new URL(url); ;) {
      const answer = await this.request(method, next, { from, navigation: true, crossed, body, headers });
      if (![301, 302, 303, 307].includes(answer.status) || stopAt(new URL(answer.headers.location, next)))
        return { ...answer, redirects };
      assert.ok(redirects.length < 20, `redirects without end: ${redirects.join(' ')}`);
      const to = new URL(answer.headers.location, next);
      crossed ||= from !== undefined && site(new URL(from)) !== site(next);
      crossed ||= site(next) !== site(to);
      redirects.push(String(to));
      [next, method, body, headers] = [to, 'GET', undefined, {}];
    }
  }
}

// A page of the service in that browser: what its script asks for. Keeps the ID token in memory.
export class Page {
  constructor(browser, origin) {
    Object.assign(this, { browser, origin });
  }
  ask(method, path, json, headers = {}) {
    const bearer = this.idToken ? { authorization: `Bearer ${this.idToken}` } : {};
    return this.browser.request(method, `${this.origin}${path}`, {
      from: this.origin,
      json,
      headers: { ...bearer, ...headers },
    });
  }
  // Sign-in, sign-up, refresh, step-up: the ID token of the answer is the page's from now on.
  async sign(path, json = {}) {
    const answer = await this.ask(
      'POST',
      `/api/auth/${path}`,
      path === 'step-up' || path === 'password' ? json : { ...json, session: 'cookie' },
    );
    if (answer.json?.idToken) {
      this.idToken = answer.json.idToken;
      assert.ok(!('refreshToken' in answer.json), 'no refresh token in a body');
      assert.equal(answer.headers['cache-control'], 'no-store');
    }
    return answer;
  }
}
