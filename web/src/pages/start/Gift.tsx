// A first delivery without a sale: one preset for a friend, as an order of a store of the merchant's own (spec 3.8).
import '@/i18n/en/delivery';
import '@/i18n/en/guide';
import '@/i18n/en/stores';
import { TextInput } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useRef, useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { problemsOf } from '@/api/errors';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { ConfirmDialog } from '@/components/Dialogs';
import { PresetPicker } from '@/components/PresetPicker';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { word } from '@/vocabulary/delivery';
import type { Store } from '@/vocabulary/store';
import { looksLikeMail } from '@/vocabulary/username';

type Draft = { username: string; preset: Schemas['Preset'] | null };
const EMPTY: Draft = { username: '', preset: null };

// The order that the last attempt sent. Its ids make it one delivery, however often the same gift is sent.
type Attempt = { username: string; fileId: string; integrationId: string; orderId: string };

// Only a store of the merchant's own takes orders that no shop has signed: that of the guide, or else any.
const takesGifts = ({ provider, active, archivedAt }: Store) => provider === 'generic' && active && archivedAt === null;
const storeOf = (stores: Store[], guide: string) =>
  stores.find((store) => store.id === guide && takesGifts(store)) ?? stores.find(takesGifts);

type Props = { opened: boolean; guide: Store; onClose: () => void; onSent: (delivery: string) => void };

export function Gift({ opened, guide, onClose, onSent }: Props) {
  const [draft, setDraft] = useState(EMPTY);
  const attempted = useRef<Attempt>(null);
  const [problem, setProblem] = useState<string>();
  const sender = useQuery(queries.cloud()).data?.cloudUsername;
  const credits = useQuery(queries.credits()).data?.available;
  const stores = useQuery(queries.stores()).data?.data;
  const client = useQueryClient();
  const { username, preset } = draft;
  const mail = looksLikeMail(username);
  function change(part: Partial<Draft>) {
    setProblem(undefined);
    setDraft({ username, preset, ...part });
  }

  async function store(): Promise<string> {
    const { data } = await client.fetchQuery({ ...queries.stores(), staleTime: 0 });
    const found = storeOf(data, guide.id);
    if (found) return found.id;
    const body = { name: t('guide.gift.storeName'), provider: 'generic' as const };
    return (await ok(api.POST('/api/integrations', { body }))).id;
  }
  async function attemptOf(gift: { username: string; fileId: string }): Promise<Attempt> {
    const last = attempted.current;
    if (last && last.username === gift.username && last.fileId === gift.fileId) return last;
    return { ...gift, integrationId: await store(), orderId: `gift-${crypto.randomUUID().slice(0, 8)}` };
  }
  async function deliver({ id, name }: Schemas['Preset']) {
    setProblem(undefined);
    const attempt = await attemptOf({ username: username.trim(), fileId: id });
    attempted.current = attempt;
    const { integrationId, orderId } = attempt;
    const body = { integrationId, orderId, targetUsername: attempt.username, items: [{ fileId: id, title: name }] };
    const answer = await ok(api.POST('/api/deliveries', { body })).catch((failure: unknown) => {
      setProblem(problemsOf(failure).targetUsername);
      throw failure;
    });
    for (const key of ['deliveries', 'overview', 'stores', 'credits'])
      void client.invalidateQueries({ queryKey: [key] });
    attempted.current = null;
    setDraft((now) => (now === draft ? EMPTY : now));
    if ('id' in answer) onSent(answer.id);
    else toast(t('guide.gift.ignored', { reason: word('reason', answer.reason) }), { tone: 'bad' });
  }

  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t('guide.gift')}
      body={<Bdi>{sender ? t('guide.gift.text', { sender: `@${sender}` }) : t('guide.gift.textOpen')}</Bdi>}
      button={t('guide.gift.button')}
      ready={preset !== null && !mail && username.replaceAll('@', '').trim() !== ''}
      onConfirm={() => (preset ? deliver(preset) : Promise.resolve())}
    >
      <TextInput
        label={t('guide.gift.username')}
        leftSection={<span className="quiet">{'@'}</span>}
        autoComplete="off"
        spellCheck={false}
        autoCapitalize="none"
        maxLength={200}
        size="md"
        value={username}
        error={mail ? t('fix.mail') : problem}
        onChange={(event) => change({ username: event.currentTarget.value })}
        data-autofocus
      />
      <PresetPicker label={t('guide.gift.preset')} value={preset} onChange={(next) => change({ preset: next })} />
      {credits === undefined ? null : (
        <p>{t(credits > 0 ? 'guide.gift.cost' : 'guide.gift.costNone', { count: credits })}</p>
      )}
      {stores && !storeOf(stores, guide.id) ? (
        <p className="muted">{t('guide.gift.store', { store: t('guide.gift.storeName') })}</p>
      ) : null}
    </ConfirmDialog>
  );
}
