// The question before all events of a receiver that failed are sent again.
import '@/i18n/en/webhooks';
import { NativeSelect } from '@mantine/core';
import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok } from '@/api/client';
import { daysAgo, queries } from '@/api/queries';
import { ConfirmDialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';

const RECOVER_DAYS = ['1', '3', '7', '14'] as const;
type RecoverDays = (typeof RECOVER_DAYS)[number];

// How many events would be sent again.
function RecoveryPlan({ data }: { data: { total: number; totalIsExact: boolean } | undefined }) {
  if (!data) return null;
  return (
    <p role="status">
      {t(data.totalIsExact ? 'webhook.recover.count' : 'webhook.recover.countMore', { count: data.total })}
    </p>
  );
}

export function Recover({ id, opened, onClose }: { id: string; opened: boolean; onClose: () => void }) {
  const [days, setDays] = useState<RecoverDays>('1');
  const plan = useQuery({ ...queries.recovery(id, Number(days)), enabled: opened });
  const client = useQueryClient();
  return (
    <ConfirmDialog
      opened={opened}
      onClose={onClose}
      title={t('webhook.recover.title')}
      body={t('webhook.recover.body')}
      button={t('webhook.recover.button')}
      ready={plan.data?.total !== 0}
      onConfirm={async () => {
        const { total } = await ok(
          api.POST('/api/webhook-subscriptions/{subscription}/recover', {
            params: { path: { subscription: id } },
            body: { since: daysAgo(Number(days)) },
          }),
        );
        toast(t('webhook.recovered', { count: total }));
        void client.invalidateQueries({ queryKey: ['subscriptions'] });
      }}
    >
      <NativeSelect
        label={t('webhook.recover.since')}
        size="md"
        data={RECOVER_DAYS.map((value) => ({ value, label: t(`webhook.recover.${value}`) }))}
        value={days}
        onChange={(event) => setDays(event.currentTarget.value as RecoverDays)}
      />
      <RecoveryPlan data={plan.data} />
    </ConfirmDialog>
  );
}
