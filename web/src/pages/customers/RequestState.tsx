// How a request stands.
import '@/i18n/en/customers';
import type { Schemas } from '@/api/client';
import { Shape } from '@/components/StatusIcon';
import { useNow } from '@/components/Time';
import { date, since } from '@/i18n/format';
import { t } from '@/i18n/text';
import type { Colour, Icon } from '@/vocabulary/delivery';
import { answerBy } from './answer_by';
import styles from './customers.module.css';

type Look = { icon: Icon; colour: Colour; words: string };

function lookOf(it: Schemas['PrivacyRequest'], now: number): Look {
  if (it.closedAt) return { icon: 'check', colour: 'teal', words: t('requests.closed', { when: since(it.closedAt, now) }) };
  if (it.carriedOutAt === null) return { icon: 'arc', colour: 'teal', words: t('requests.going') };
  if (it.kind !== 'data_request') return { icon: 'clock', colour: 'amber', words: t('requests.erased', { when: since(it.carriedOutAt, now) }) };
  const by = answerBy(it.receivedAt);
  return Date.parse(by) < now
    ? { icon: 'octagon', colour: 'red', words: t('requests.late', { date: date(by, now) }) }
    : { icon: 'clock', colour: 'amber', words: t('requests.answer', { date: date(by, now) }) };
} // prettier-ignore

export function RequestState({ it }: { it: Schemas['PrivacyRequest'] }) {
  const { icon, colour, words } = lookOf(it, useNow());
  return (
    <span className={styles.state}>
      <Shape icon={icon} colour={colour} />
      <span>{words}</span>
    </span>
  );
}
