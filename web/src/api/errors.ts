// The errors of a request, in one form, with their texts.
import { duration } from '@/i18n/format';
import { isolated } from '@/i18n/outside';
import { t } from '@/i18n/text';
import type { components } from './schema.mjs';

type Problem = { field: string; problem: string };

export class ApiError extends Error {
  constructor(
    readonly status: number, // 0: no answer came
    readonly code: string, // of the service; NETWORK or OFFLINE: ours
    message: string,
    readonly details: Problem[] = [],
    readonly requestId: string | null = null,
    readonly retryAfterSeconds: number | null = null,
    readonly attemptsLeft: number | null = null, // at the cloud platform, after a refused login
  ) {
    super(message);
    this.name = 'ApiError';
  }
}

export function errorOfAnswer(response: Response, body: unknown): ApiError {
  const error = (body as Partial<components['schemas']['Error']> | undefined)?.error;
  const after = Number(response.headers.get('retry-after'));
  return new ApiError(
    response.status,
    error?.code ?? 'UNKNOWN',
    error?.message ?? response.statusText,
    error?.details,
    response.headers.get('x-request-id'),
    after > 0 ? after : null,
    error?.attemptsLeft ?? null,
  );
}

export const errorOfNetwork = () =>
  navigator.onLine === false
    ? new ApiError(0, 'OFFLINE', t('error.offline'))
    : new ApiError(0, 'NETWORK', t('error.network'));

// One sentence for a person. The service's own messages about a request (422, 409, …) are shown unchanged.
export function sentence(error: unknown): string {
  if (!(error instanceof ApiError)) return t('error.internal');
  if (error.status === 0) return error.message;
  if (error.status === 429 && error.retryAfterSeconds) {
    return t('error.rateLimit', { time: duration(error.retryAfterSeconds * 1000) });
  }
  if (error.status === 401 && error.code === 'UNAUTHORIZED') return t('error.ended');
  if (error.code === 'FORBIDDEN') return t('error.forbidden');
  if (error.status === 503) return t('error.overloaded');
  if (error.status >= 500 && error.code === 'INTERNAL_ERROR') return t('error.internal');
  return isolated(error.message) || t('error.internal');
}

// The problem of each field of a form: that of an element is one of its list. `body` has those of no field.
export function problemsOf(error: unknown): Record<string, string> {
  if (!(error instanceof ApiError)) return {};
  return Object.fromEntries(error.details.map(({ field, problem }) => [field.replace(/\[.*/, ''), problem]));
}

export const isMissing = (error: unknown) =>
  error instanceof ApiError && (error.status === 404 || error.status === 422);

// Reads are tried again where the service may answer next time.
export const worthAnotherTry = (failures: number, error: unknown) =>
  failures < 2 && error instanceof ApiError && (error.status === 503 || error.status === 0) && error.code !== 'OFFLINE';
