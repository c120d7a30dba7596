// A reader of server-sent events, as the dashboard is one: it remembers the last id, and comes back with it.
import http from 'node:http';
import { once } from 'node:events';
import { eventsOf } from './contract.mjs';

export class EventReader {
  events = []; // {event, id, data}, those of all connections
  comments = 0; // heartbeats
  #rest = '';

  // `headers`: who reads. `check`: sees each event.
  constructor(path, headers, { check = () => {} } = {}) {
    Object.assign(this, { path, headers, check });
  }

  // Comes (back) to that address. Resolves once the answer has begun; then `status` is set.
  async open(url, { lastEventId = this.lastId, headers = {} } = {}) {
    this.#rest = '';
    const request = http.request(new URL(this.path, url), {
      agent: false,
      headers: { ...this.headers, ...(lastEventId ? { 'last-event-id': lastEventId } : {}), ...headers },
    });
    request.on('error', () => {}); // a connection that is cut off ends the answer
    request.end();
    const [response] = await once(request, 'response');
    this.request = request;
    this.response = response;
    this.status = response.statusCode;
    this.ended = new Promise((resolve) => response.once('close', () => resolve(response.complete))); // whether it ended as it should
    response.setEncoding('utf8');
    response.on('error', () => {});
    response.on('data', (text) => this.#take(text));
    return this;
  }

  #take(text) {
    this.#rest += text;
    const end = this.#rest.lastIndexOf('\n\n');
    if (end < 0 || this.status !== 200) return;
    const whole = this.#rest.slice(0, end + 2);
    this.#rest = this.#rest.slice(end + 2);
    this.comments += whole.split('\n\n').filter((block) => block.startsWith(':')).length;
    for (const event of eventsOf(whole)) {
      this.check(event);
      if (event.id !== undefined) this.lastId = event.id;
      event.at = performance.now();
      this.events.push(event);
    }
  }

  // Stops to read, and leaves the connection open.
  stopReading() {
    this.response.pause();
  }
  readOn() {
    this.response.resume();
  }
  // As when a laptop is closed.
  cut() {
    this.request?.destroy();
    return this.ended;
  }

  of(kind) {
    return this.events.filter(({ event }) => event === kind);
  }
  // The numbers of the changes, which follow each other.
  get numbers() {
    return this.events
      .filter(({ event, id }) => id !== undefined && event !== 'hello' && event !== 'reset')
      .map(({ id }) => Number(id.split('-')[1]));
  }
  // The numbers that are missing or came twice.
  get faults() {
    return this.numbers.flatMap((number, at, all) =>
      at > 0 && number !== all[at - 1] + 1 ? [`${all[at - 1]} is followed by ${number}`] : [],
    );
  }
}
