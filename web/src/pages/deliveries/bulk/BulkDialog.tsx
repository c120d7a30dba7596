// Asks before an action on many: how many it is for, who is left out and why, how long it takes and what it costs, as the
// service counts it.
import '@/i18n/en/bulk';
import { Textarea } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';
import { api, ok, type Schemas } from '@/api/client';
import { queries } from '@/api/queries';
import { ConfirmDialog } from '@/components/Dialogs';
import { Loaded, SkeletonRows } from '@/components/States';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';
import { NO_CAUSES, type Causes } from './causes';
import { BulkProgress } from './BulkProgress';
import { Plan } from './Plan';
import type { BulkAction, Meant } from './wanted';
import styles from './bulk.module.css';

type Props = {
  action: BulkAction;
  meant: Meant;
  lead?: string;
  causes?: Causes; // of those that failed
  onClose: () => void;
  onAsked?: () => void;
};

// It is there only once the plan is: too late for the dialog to give it the focus.
const focusOnce = (field: HTMLTextAreaElement | null) => field?.focus();

export function BulkDialog({ action, meant, lead, causes = NO_CAUSES, onClose, onAsked }: Props) {
  const [reason, setReason] = useState('');
  const stops = action === 'invalidate';
  // The service requires a reason with a plan to stop, too. A plan has no other use for it.
  const read = useQuery(queries.bulkPlan({ action, ...meant, ...(stops ? { reason: t('bulk.what') } : {}) }));
  const eligible = read.data?.eligible ?? 0;
  async function confirm() {
    const body = { action, ...meant, ...(stops ? { reason: reason.trim() } : {}) };
    const job = (await ok(api.POST('/api/deliveries/bulk', { body }))) as Schemas['BulkJob'];
    const leave = toast(<BulkProgress id={job.id} onEnd={() => leave()} />, { stay: true });
    onAsked?.();
  }
  return (
    <ConfirmDialog
      opened
      onClose={onClose}
      title={t(`bulk.ask.${action}`, { count: eligible || (read.data?.total ?? 0) })}
      body={
        <>
          {lead ? <p>{lead}</p> : null}
          <Loaded read={read} what={t('bulk.what')} skeleton={<SkeletonRows rows={2} height={24} />}>
            {(plan) => <Plan action={action} plan={plan} causes={causes} />}
          </Loaded>
        </>
      }
      button={t(`bulk.do.${action}`, { n: eligible })}
      danger={stops}
      ready={eligible > 0 && !read.isPlaceholderData && (!stops || reason.trim() !== '')}
      onConfirm={confirm}
    >
      {stops && eligible > 0 ? (
        <div className={styles.reason}>
          <p className="muted">{t('bulk.stopText')}</p>
          <Textarea
            ref={focusOnce}
            label={t('bulk.reason')}
            required
            maxLength={500}
            rows={3}
            value={reason}
            onChange={(event) => setReason(event.currentTarget.value)}
          />
        </div>
      ) : null}
    </ConfirmDialog>
  );
}
