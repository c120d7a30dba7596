// The running service and its two simulators, with the methods of Past (past.mjs), so that a story goes on.
export class Present {
  // `urls`: {bridge, cloud, bank}.
  constructor(urls) {
    this.urls = urls;
  }
  get now() {
    return Date.now();
  }
  async ask(whom, method, path, body, headers = {}) {
    const response = await fetch(this.urls[whom] + path, {
      method,
      headers: body === undefined ? headers : { 'content-type': 'application/json', ...headers },
      body: body === undefined || typeof body === 'string' ? body : JSON.stringify(body),
      redirect: 'error',
      signal: AbortSignal.timeout(15_000),
    });
    const text = await response.text();
    return { status: response.status, json: text.startsWith('{') ? JSON.parse(text) : undefined, text };
  }
  async must(whom, method, path, body, headers) {
    const answer = await this.ask(whom, method, path, body, headers);
    if (answer.status >= 300)
      throw new Error(`${whom}: ${method} ${path} was answered ${answer.status}: ${answer.text}`);
    return answer.json;
  }
}
