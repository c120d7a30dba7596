// The parts that the steps of several kinds of shops share.
import '@/i18n/en/store_kinds';
import '@/i18n/en/stores';
import { Link } from '@tanstack/react-router';
import { lazy, Suspense, type ReactNode } from 'react';
import { CopyField } from '@/components/Copy';
import { t, T } from '@/i18n/text';
import type { Store } from '@/vocabulary/store';
import styles from '../steps.module.css';
import type { Event, StepsProps, Word } from './kind';
import { Whole } from './Whole';

// They come with the secret: pages without steps import the kinds of shops too.
const SecretShown = lazy(() => import('@/components/SecretOnce').then((part) => ({ default: part.SecretShown })));

const RotateSecret = lazy(() => import('../RotateSecret').then((part) => ({ default: part.RotateSecret })));

const shopWord = (key: Word) => <strong>{t(key)}</strong>;

type Name = Word extends `steps.word.${infer N}` ? N : never;
// The shop's own words in a step, by the names that they have in its text.
export const shopWords = <N extends Name>(...names: N[]) =>
  Object.fromEntries(names.map((name) => [name, shopWord(`steps.word.${name}`)])) as Record<N, ReactNode>;

export const Address = ({ it }: { it: Store }) => <CopyField label={t('connection.address')} value={it.webhookUrl} />;

// The way to the secret's own control, on the page that has the steps beside it.
export const SecretPlace = ({ it }: { it: Store }) => (
  <Link
    className="link"
    to="/integrations/stores/$id/connection"
    params={{ id: it.id }}
    search={{ do: 'secret' }}
    resetScroll={false}
  >
    {t('steps.secretPlace')}
  </Link>
);

export function OurSecret({ it, secret, onSecret }: StepsProps) {
  if (secret !== null)
    return (
      <div className={styles.once}>
        <Suspense>
          <SecretShown key={secret} secret={secret} label={t('connection.secret')} onDone={() => onSecret?.(null)} />
        </Suspense>
      </div>
    );
  return (
    <div className={styles.saved}>
      <p className={styles.note}>
        <T k="steps.secretKept" values={{ preview: <Whole text={it.secretPreview} /> }} />{' '}
        {onSecret ? t('steps.secretLost') : null}
      </p>
      {onSecret ? (
        <Suspense>
          <RotateSecret it={it} onSecret={onSecret} />
        </Suspense>
      ) : (
        <p className={styles.note}>
          <T k="steps.secretBeside" values={{ place: <SecretPlace it={it} /> }} />
        </p>
      )}
    </div>
  );
}

// `secret`: ours, which each of their webhooks needs too.
type OtherProps = { says: ReactNode; events: readonly Event[]; secret?: string | null };

export function OtherEvents({ says, events, secret = null }: OtherProps) {
  return (
    <>
      {says}
      {secret === null ? null : <CopyField label={t('connection.secret')} value={secret} />}
      <ul className={styles.events}>
        {events.map(([event, why]) => (
          <li key={event}>
            {shopWord(event)} <span className="muted">{t(why)}</span>
          </li>
        ))}
      </ul>
    </>
  );
}
