// The outcome of an order: the status of its delivery, or why it has none.
import '@/i18n/en/orders';
import { Shape, StatusText } from '@/components/StatusIcon';
import statusStyles from '@/components/StatusIcon.module.css';
import type { Schemas } from '@/api/client';
import { t } from '@/i18n/text';
import { codeWord } from '@/vocabulary/delivery';
import { lookOfOutcome, outcomeWord, standingOf } from '@/vocabulary/outcome';

type Known = Pick<
  Schemas['Order'],
  'outcome' | 'unmappedCount' | 'deliveryStatus' | 'resolutionCode' | 'dryRun' | 'erased'
>;

export function OutcomeText({ it }: { it: Known }) {
  const line = it.erased ? t('orderOutcome.erased') : it.resolutionCode ? codeWord(it.resolutionCode) : undefined;
  if (it.outcome === 'delivery' && it.deliveryStatus)
    return <StatusText status={it.deliveryStatus} dryRun={it.dryRun ?? false} line={line} />;
  return (
    <span className={statusStyles.text} title={it.outcome}>
      <Shape {...lookOfOutcome(standingOf(it))} />
      <span>{outcomeWord(standingOf(it))}</span>
      {line ? <span className={statusStyles.line}>{line}</span> : null}
    </span>
  );
}
