// The trouble with a receiver in words, and the action that helps.
import '@/i18n/en/webhooks';
import { Button } from '@mantine/core';
import { useQueryClient } from '@tanstack/react-query';
import { type ReactNode } from 'react';
import { api, ok } from '@/api/client';
import { sentence } from '@/api/errors';
import { Panel } from '@/components/Panel';
import { toast } from '@/components/toasts';
import { useSubmit } from '@/components/useSubmit';
import { momentWithin } from '@/i18n/format';
import { t } from '@/i18n/text';
import { answerName, type Subscription } from '@/vocabulary/webhook';
import styles from './webhook.module.css';

export function Banner({ it }: { it: Subscription }) {
  switch (it.health) {
    case 'failing': {
      const time = it.failingSince ? momentWithin(it.failingSince) : '';
      const answer = it.lastStatusCode === null ? null : answerName(it.lastStatusCode);
      return (
        <Frame title={answer ? t('banner.failing', { answer, time }) : t('banner.failingNone', { time })}>
          {it.waitingCount === 0
            ? null
            : it.waitingCountIsExact
              ? t('banner.waiting', { count: it.waitingCount })
              : t('banner.waitingMany', { n: it.waitingCount })}
        </Frame>
      );
    }
    case 'gone':
    case 'off':
    case 'deactivated':
      return (
        <Frame title={t(`banner.${it.health}`)} plain={it.health === 'deactivated'} action={<TurnOn id={it.id} />}>
          {t(`banner.${it.health}Text`)}
        </Frame>
      );
    default:
      return null;
  }
}

function Frame({
  title,
  plain,
  action,
  children,
}: {
  title: string;
  plain?: boolean;
  action?: ReactNode;
  children: ReactNode;
}) {
  return (
    <Panel tone={plain ? 'plain' : 'red'} title={title}>
      <div className={styles.banner}>
        <p>{children}</p>
        {action}
      </div>
    </Panel>
  );
}

function TurnOn({ id }: { id: string }) {
  const { busy, begin, end } = useSubmit();
  const client = useQueryClient();
  async function turn() {
    if (!begin()) return;
    try {
      await ok(
        api.PATCH('/api/webhook-subscriptions/{subscription}', {
          params: { path: { subscription: id } },
          body: { active: true },
        }),
      );
      toast(t('webhook.turnedOn'));
    } catch (error) {
      toast(sentence(error), { tone: 'bad' });
    }
    await client.invalidateQueries({ queryKey: ['subscriptions'] });
    end();
  }
  return (
    <Button variant="filled" aria-disabled={busy || undefined} onClick={() => (busy ? undefined : void turn())}>
      {t('webhook.on')}
    </Button>
  );
}
