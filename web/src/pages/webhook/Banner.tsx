// The trouble with a receiver in words, and the action that helps.
import '@/i18n/en/webhooks';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, ok } from '@/api/client';
import { Panel } from '@/components/Panel';
import { toast } from '@/components/toasts';
import { useAct } from '@/components/useAct';
import { momentWithin } from '@/i18n/format';
import { t } from '@/i18n/text';
import type { ReceiverState } from '@/vocabulary/health';
import { answerName, type Subscription } from '@/vocabulary/webhook';
import { Recover } from './Recover';
import { SendTest } from './SendTest';
import styles from './webhook.module.css';

// How many events wait for a receiver that is on.
const waitingWords = ({ waitingCount: count, waitingCountIsExact }: Subscription) =>
  count === 0 ? null : waitingCountIsExact ? t('banner.waiting', { count }) : t('banner.waitingMany', { n: count });

export function Banner({ it, state }: { it: Subscription; state: ReceiverState }) {
  switch (state) {
    case 'resumed':
      return (
        <Frame title={t('banner.resumed')} tone="amber" action={<Ways it={it} />}>
          {t('banner.resumedText', { count: it.failuresInARow })} {waitingWords(it)}
        </Frame>
      );
    case 'failing':
    case 'failing_lately': {
      const time = it.failingSince ? momentWithin(it.failingSince) : '';
      const answer = it.lastStatusCode === null ? null : answerName(it.lastStatusCode);
      return (
        <Frame
          title={answer ? t('banner.failing', { answer, time }) : t('banner.failingNone', { time })}
          action={<Ways it={it} />}
        >
          {waitingWords(it)}
        </Frame>
      );
    }
    case 'gone':
    case 'off':
    case 'deactivated':
      return (
        <Frame
          title={t(`banner.${state}`)}
          tone={state === 'deactivated' ? 'plain' : 'red'}
          action={<TurnOn id={it.id} />}
        >
          {t(`banner.${state}Text`)}
        </Frame>
      );
    default:
      return null;
  }
}

// The ways to help a receiver that is on and has failed.
function Ways({ it }: { it: Subscription }) {
  const [asked, setAsked] = useState(false);
  return (
    <div className={styles.ways}>
      <SendTest it={it} first />
      <Button onClick={() => setAsked(true)}>{t('webhook.recover')}</Button>
      <Recover id={it.id} opened={asked} onClose={() => setAsked(false)} />
    </div>
  );
}

function Frame({
  title,
  tone = 'red',
  action,
  children,
}: {
  title: string;
  tone?: 'plain' | 'red' | 'amber';
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Panel tone={tone} title={title}>
      <div className={styles.banner}>
        <p>{children}</p>
        {action}
      </div>
    </Panel>
  );
}

function TurnOn({ id }: { id: string }) {
  const client = useQueryClient();
  const { button } = useAct(async () => {
    try {
      const now = await ok(
        api.PATCH('/api/webhook-subscriptions/{subscription}', {
          params: { path: { subscription: id } },
          body: { active: true },
        }),
      );
      toast(t(now.waitingCount > 0 ? 'webhook.turnedOn' : 'webhook.turnedOnNone'));
    } finally {
      await client.invalidateQueries({ queryKey: ['subscriptions'] });
    }
  });
  return (
    <Button variant="filled" {...button}>
      {t('webhook.on')}
    </Button>
  );
}
