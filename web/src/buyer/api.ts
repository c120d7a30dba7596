// The requests of the buyer's page (spec 13.3). The token stands in a header, never in an address.
import type { components } from '../api/schema.mjs';

export type BuyerDelivery = components['schemas']['BuyerDelivery'];

export type Answer =
  | { kind: 'delivery'; delivery: BuyerDelivery }
  | { kind: 'gone' } // a wrong link or an expired one
  | { kind: 'wait'; seconds: number } // asked too often
  | { kind: 'invalid' } // what was typed is no username
  | { kind: 'refused'; message: string } // the service says why
  | { kind: 'away' }; // no answer, or a fault: try again later

const DEADLINE_MS = 15_000;

function secondsOf(response: Response): number {
  const seconds = Number(response.headers.get('retry-after'));
  return Number.isFinite(seconds) && seconds > 0 ? Math.min(seconds, 3600) : 60;
}

async function ask(token: string, method: string, path: string, body?: object): Promise<Answer> {
  try {
    const response = await fetch(path, {
      method,
      headers: { 'x-buyer-token': token, ...(body ? { 'content-type': 'application/json' } : {}) },
      body: body ? JSON.stringify(body) : null,
      cache: 'no-store',
      credentials: 'omit',
      signal: AbortSignal.timeout(DEADLINE_MS),
    });
    if (response.status === 404) return { kind: 'gone' };
    if (response.status === 429) return { kind: 'wait', seconds: secondsOf(response) };
    if (response.status >= 500) return { kind: 'away' };
    const json: unknown = await response.json();
    if (response.ok) return { kind: 'delivery', delivery: json as BuyerDelivery };
    const { error } = json as components['schemas']['Error'];
    return error.code === 'VALIDATION_FAILED' ? { kind: 'invalid' } : { kind: 'refused', message: error.message };
  } catch {
    return { kind: 'away' };
  }
}

export const api = {
  show: (token: string) => ask(token, 'GET', '/api/buyer'),
  correct: (token: string, username: string) => ask(token, 'POST', '/api/buyer/username', { username }),
  retry: (token: string) => ask(token, 'POST', '/api/buyer/retry'),
};
