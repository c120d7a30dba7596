// The actions on a delivery. Nothing is shown as done before the service says so.
import '@/i18n/en/delivery';
import { useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { api, ok } from '@/api/client';
import { ApiError, sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { statusWord } from '@/vocabulary/delivery';
import { queueLine } from '@/vocabulary/delivery_line';
import { waitsOn } from './said';
import type { Delivery } from './types';

type Body = { targetUsername?: string; keepFriendRequest?: boolean; reason?: string; itemIds?: string[] };

async function send(
  action: 'retry' | 'approve' | 'complete' | 'reopen' | 'invalidate' | 'revoke',
  id: string,
  body: Body,
) {
  const params = { path: { delivery: id } };
  switch (action) {
    case 'retry':
      return ok(
        api.POST('/api/deliveries/{delivery}/retry', {
          params,
          body: { targetUsername: body.targetUsername, keepFriendRequest: body.keepFriendRequest },
        }),
      );
    case 'approve':
      return ok(api.POST('/api/deliveries/{delivery}/approve', { params }));
    case 'complete':
      return ok(api.POST('/api/deliveries/{delivery}/complete', { params }));
    case 'reopen':
      return ok(api.POST('/api/deliveries/{delivery}/reopen', { params }));
    case 'invalidate':
      return ok(api.POST('/api/deliveries/{delivery}/invalidate', { params, body: { reason: body.reason ?? '' } }));
    case 'revoke':
      return ok(api.POST('/api/deliveries/{delivery}/revoke', { params, body: { itemIds: body.itemIds } }));
  }
}

export function useDeliveryActions({ id, status }: Pick<Delivery, 'id' | 'status'>) {
  const client = useQueryClient();
  const key = queries.delivery(id).queryKey;
  return async (action: Parameters<typeof send>[0], body: Body = {}): Promise<Delivery> => {
    try {
      const next = await send(action, id, body);
      client.setQueryData(key, next);
      void client.invalidateQueries({ queryKey: ['deliveries'] });
      return next;
    } catch (error) {
      if (error instanceof ApiError && error.status === 409) {
        // The delivery may have changed meanwhile: show it as it is.
        void client.invalidateQueries({ queryKey: ['deliveries', 'list'] });
        const now = await client.fetchQuery({ ...queries.delivery(id), staleTime: 0 }).catch(() => undefined);
        if (now && now.status !== status && error.code === 'INVALID_TRANSITION') {
          throw new ApiError(
            409,
            error.code,
            t('act.conflict', { status: statusWord(now.status) }),
            [],
            error.requestId,
          );
        }
      }
      throw error;
    }
  };
}

// The action is not for the delivery, which may have changed meanwhile.
export const isTooLate = (error: unknown) => error instanceof ApiError && error.code === 'INVALID_TRANSITION';

// `elsewhere`: the id of a delivery that is acted on outside of its page.
export function sayWhyNot(error: unknown, elsewhere?: string) {
  const action =
    elsewhere !== undefined && isTooLate(error) ? (
      <Link className="link" to="/deliveries/$id" params={{ id: elsewhere }} search={{}}>
        {t('action.show')}
      </Link>
    ) : undefined;
  toast(sentence(error), { tone: 'bad', action });
}

// Reports the outcome of an action that has no dialog, as a toast. False: it failed.
export async function said(work: Promise<Delivery>, words: (now: Delivery) => string, elsewhere?: string) {
  try {
    toast(words(await work));
    return true;
  } catch (error) {
    sayWhyNot(error, elsewhere);
    return false;
  }
}

export function approvedWords(now: Delivery) {
  if (now.pendingAction) return t('act.accepted');
  const line = queueLine(now);
  return line ? t('act.approvedLine', { line }) : t('act.approved');
}

export function queuedWords(now: Delivery) {
  const buyer = `@${now.targetUsername ?? ''}`;
  const line = queueLine(now);
  if (waitsOn(now.timeline)) return line ? t('fix.waitsLine', { buyer, line }) : t('fix.waits', { buyer });
  return line ? t('fix.doneLine', { buyer, line }) : t('fix.done', { buyer });
}
