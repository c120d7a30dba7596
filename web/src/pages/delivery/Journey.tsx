// The five steps of a delivery, and where it stands. On narrow screens there are icons and one sentence.
import '@/i18n/en/delivery';
import { StatusIcon, Shape } from '@/components/StatusIcon';
import { moment } from '@/i18n/format';
import { hasText, t } from '@/i18n/text';
import { stateWord, statusWord, word } from '@/vocabulary/delivery';
import type { Delivery } from './types';
import styles from './Journey.module.css';

function nameOf(it: Delivery, { key, state }: Delivery['steps'][number]): string {
  if (state === 'stopped') {
    const stopped = `step.stopped.${it.resolutionCode ?? ''}`;
    return it.resolutionCode && hasText(stopped) ? word('step.stopped', it.resolutionCode) : statusWord(it.status);
  }
  if (state === 'current' && it.status === 'waiting_for_friendship') return statusWord(it.status);
  return key === 'shared' && it.dryRun ? t('status.would') : word('step', key);
}

// A rehearsal asks nobody: of the steps with the buyer there is only the one at which it stands.
const stepsOf = ({ steps, dryRun }: Delivery) =>
  dryRun
    ? steps.filter(
        ({ key, state }) => key === 'order_received' || key === 'shared' || state === 'current' || state === 'stopped',
      )
    : steps;

export function Journey({ it }: { it: Delivery }) {
  const at = it.steps.findIndex(({ state }) => state === 'stopped' || state === 'current');
  const here = at < 0 ? undefined : it.steps[at];
  return (
    <div className={styles.journey}>
      <p className={styles.sentence}>
        <strong>
          {here === undefined
            ? it.status === 'completed'
              ? it.dryRun
                ? stateWord(it)
                : t('step.all')
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
            data-status={it.status}
            title={step.at ? moment(step.at) : undefined}
          >
            <span className={styles.mark}>
              {step.state === 'done' ? (
                <Shape icon="check" colour="teal" />
              ) : step.state === 'stopped' || step.state === 'current' ? (
                <StatusIcon status={it.status} />
              ) : (
                <i className={styles.ahead} />
              )}
              <i className={styles.line} />
            </span>
            <span className={styles.name}>{nameOf(it, step)}</span>
          </li>
        ))}
      </ol>
    </div>
  );
}
