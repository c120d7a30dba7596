// The five steps of a delivery, and where it stands. On narrow screens there are icons and one sentence.
import '@/i18n/en/delivery';
import { StatusIcon, Shape } from '@/components/StatusIcon';
import { moment } from '@/i18n/format';
import { hasText, t } from '@/i18n/text';
import { stateWord, statusWord, word } from '@/vocabulary/delivery';
import { hasAccepted, shownStatus } from './accepted';
import { countsOf } from './counts';
import { presentHolder } from './holders';
import { takenBack } from './taken_back';
import type { Delivery } from './types';
import styles from './Journey.module.css';

// All of it was delivered by hand.
function isByHand(it: Delivery) {
  const items = it.status === 'completed' ? presentHolder(it).items.filter(({ status }) => status !== 'dropped') : [];
  return items.length > 0 && items.every(({ status }) => status === 'delivered_by_hand');
}

// It was put back in review after all of it was shared.
function isAllShared(it: Delivery) {
  const { total, has } = countsOf(it);
  return !it.dryRun && total > 0 && has === total;
}

function nameOf(it: Delivery, { key, state }: Delivery['steps'][number]): string {
  if (state === 'stopped') {
    if (key === 'shared' && it.status === 'in_review' && isAllShared(it)) return t('step.sharedInReview');
    const stopped = `step.stopped.${it.resolutionCode ?? ''}`;
    return it.resolutionCode && hasText(stopped) ? word('step.stopped', it.resolutionCode) : statusWord(it.status);
  }
  if (key === 'shared' && takenBack(it).all) return t('item.revoked');
  if (key === 'shared' && isByHand(it)) return t('item.delivered_by_hand');
  if (state === 'current' && it.status === 'waiting_for_friendship')
    return hasAccepted(it) ? t('delivery.inLine') : statusWord(it.status);
  // The step is still to come: only its done state says that it happened.
  if (state === 'current' && it.status === 'queued') return t('delivery.inLine');
  if (state === 'current' && it.status === 'processing' && key === 'accepted') return statusWord(it.status);
  return key === 'shared' && it.dryRun ? t('status.would') : word('step', key);
}

// A rehearsal asks nobody: of the steps with the buyer there is only the one at which it stands.
const asked = ({ steps, dryRun }: Delivery) =>
  dryRun
    ? steps.filter(
        ({ key, state }) => key === 'order_received' || key === 'shared' || state === 'current' || state === 'stopped',
      )
    : steps;

// The service counts the steps before a delivery by hand, and the share of what was taken back since, as done. A step happened
// where it has a time, or a later step with the buyer has: a request that is accepted at once has none of its own.
function stepsOf(it: Delivery): Delivery['steps'] {
  const [byHand, all] = [isByHand(it), takenBack(it).all];
  const reached = it.steps.findLastIndex(({ key, at }) => key !== 'shared' && at !== null);
  const over = (step: Delivery['steps'][number]) =>
    (byHand && step.at === null && it.steps.indexOf(step) > reached) || (all && step.key === 'shared');
  return asked(it).map((step) => (over(step) ? { ...step, state: 'skipped' } : step));
}

function allDone(it: Delivery) {
  if (it.dryRun) return stateWord(it);
  if (isByHand(it)) return t('item.delivered_by_hand');
  return takenBack(it).all ? t('item.revoked') : t('step.all');
}

export function Journey({ it }: { it: Delivery }) {
  const at = it.steps.findIndex(({ state }) => state === 'stopped' || state === 'current');
  const here = at < 0 ? undefined : it.steps[at];
  return (
    <div className={styles.journey}>
      <p className={styles.sentence}>
        <strong>
          {here === undefined
            ? it.status === 'completed'
              ? allDone(it)
              : statusWord(it.status)
            : t(here.state === 'stopped' ? 'step.stoppedAt' : 'step.now', { n: at + 1 })}
        </strong>{' '}
        {here ? nameOf(it, here) : null}
      </p>
      <ol className={styles.steps} aria-label={t('step.label')}>
        {stepsOf(it).map((step) => (
          <li
            key={step.key}
            data-state={step.state}
            data-status={shownStatus(it)}
            title={step.at ? moment(step.at) : undefined}
          >
            <span className={styles.mark}>
              {step.state === 'done' ? (
                <Shape icon="check" colour="teal" />
              ) : step.state === 'stopped' || step.state === 'current' ? (
                <StatusIcon status={shownStatus(it)} />
              ) : step.state === 'skipped' ? (
                <Shape icon="slash" colour="grey" />
              ) : (
                <i className={styles.ahead} />
              )}
              <i className={styles.line} />
            </span>
            <span className={styles.name}>{nameOf(it, step)}</span>
            {step.state === 'skipped' && step.key !== 'shared' ? (
              <span className={styles.skipped}>{t('step.skipped')}</span>
            ) : null}
          </li>
        ))}
      </ol>
    </div>
  );
}
