// Saves the files chosen for the order's products as matches of its store. If the merchant asks for it, processes the
// order again with them.
import '@/i18n/en/orders';
import '@/i18n/en/stores';
import { Button } from '@mantine/core';
import { keepPreviousData, useQuery, useQueryClient } from '@tanstack/react-query';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { queries } from '@/api/queries';
import { Alert } from '@/components/Alert';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { freeText } from '../store/products/free';
import { mappingsWith, matchesOf, type Draft } from '../store/products/draft';
import { Bar, BarButtons, toastSaved, useDeliverAfterSave } from '../store/products/useDeliverAfterSave';
import { useSaveMatches } from '../store/products/useSaveMatches';
import type { Order } from './types';
import { useOutcomeWords, useReprocess } from './OutcomePanel';

type Props = { it: Order; draft: Draft; onDone: () => void };

export function SaveMatches({ it, draft, onDone }: Props) {
  const reprocess = useReprocess(it.id);
  const words = useOutcomeWords();
  const { run, bar } = useDeliverAfterSave<void>(
    async () => {
      const next = await reprocess();
      toast(next.resolutionCode === 'insufficient_credits' ? await words(next) : t('orderPage.savedDeliver'));
    },
    {
      delivering: t('orderPage.delivering'),
      failed: (why) => t('orderPage.notDelivered', { why }),
      again: t('orderPage.deliver'),
    },
  );
  if (draft.size > 0) return <Changes it={it} draft={draft} onDone={onDone} onDeliver={() => void run()} />;
  return bar;
}

function Changes({ it, draft, onDone, onDeliver }: Props & { onDeliver: () => void }) {
  const { save, busy, error } = useSaveMatches(it.integrationId);
  const client = useQueryClient();
  const set = useQuery(queries.mappings(it.integrationId));
  const credits = useQuery(queries.credits());
  const mappings = set.data ? mappingsWith(matchesOf(set.data.mappings), draft) : null;
  const preview = useQuery({
    queryKey: ['stores', 'preview', it.integrationId, it.orderId, mappings],
    enabled: mappings !== null,
    placeholderData: keepPreviousData,
    queryFn: ({ signal }) =>
      ok(
        api.POST('/api/integrations/{integration}/mappings/preview', {
          params: { path: { integration: it.integrationId } },
          body: { orderId: it.orderId, ...(mappings ? { mappings } : {}) },
          signal,
        }),
      ),
  });
  // While another draft's preview loads, the cost of the former one is no price.
  // A test order is rehearsed again, which costs nothing.
  const cost =
    !preview.isPlaceholderData && preview.data?.outcome === 'delivery'
      ? it.dryRun
        ? 0
        : preview.data.credits
      : undefined;
  const delivers = cost !== undefined && credits.data !== undefined;
  const short = delivers && cost > credits.data.available;

  // The choices are added to the matches as they are saved now.
  async function withChoices() {
    const { version, mappings: saved } = await client.fetchQuery({
      ...queries.mappings(it.integrationId),
      staleTime: 0,
    });
    return { version, mappings: mappingsWith(matchesOf(saved), draft) };
  }
  const act = (deliver: boolean) => () =>
    void save(withChoices, (saved) => {
      onDone();
      if (deliver) return onDeliver();
      toastSaved(saved);
      void client.invalidateQueries({ queryKey: ['orders'] });
    });
  const free = delivers && preview.data ? freeText(preview.data) : '';
  return (
    <Bar>
      <p>
        <span className="strong">{t('products.changed', { count: draft.size })}</span>{' '}
        {free ? (
          <span className="muted">
            {t('orderPage.free', { presets: t('count.presets', { count: preview.data?.files.length ?? 0 }), free })}
          </span>
        ) : null}{' '}
        {delivers ? (
          <span className="muted">
            {t(short ? 'orderPage.costsShort' : 'orderPage.costs', {
              credits: t('count.credits', { count: cost }),
              available: credits.data.available,
            })}
          </span>
        ) : null}
      </p>
      {error ? <Alert>{sentence(error)}</Alert> : null}
      <BarButtons>
        <Button variant="subtle" disabled={busy} onClick={onDone}>
          {t('action.discard')}
        </Button>
        <Button
          variant={delivers && !short ? 'default' : 'filled'}
          aria-disabled={busy || undefined}
          onClick={act(false)}
        >
          {busy ? t('action.saving') : t('orderPage.save')}
        </Button>
        {delivers ? (
          <Button variant={short ? 'default' : 'filled'} aria-disabled={busy || undefined} onClick={act(true)}>
            {t('orderPage.saveDeliver')}
          </Button>
        ) : null}
      </BarButtons>
    </Bar>
  );
}
