// The identity providers with which people can sign in.
import { Button } from '@mantine/core';
import { useId } from 'react';
import { t } from '@/i18n/text';
import { useOwesSignOut } from '@/session';
import type { SignInConfig } from '@/session/config';
import { startOf } from '@/session/issuers';
import styles from './sign-in.module.css';

// `note`: what happens to the page that is left for the provider's.
type Props = { config: SignInConfig | undefined; to: string; or?: boolean; note?: string };

export function Issuers({ config, to, or = config?.passwords, note }: Props) {
  const id = useId();
  const owed = useOwesSignOut(); // back from the provider, the sign-out that is owed would end the new session
  if (!config || config.issuers.length === 0 || owed) return null;
  return (
    <div className={styles.issuers}>
      {or ? <p className={styles.or}>{t('signIn.or')}</p> : null}
      {note ? (
        <p id={id} className="muted">
          {note}
        </p>
      ) : null}
      {config.issuers.map(({ id: issuer, name, startUrl }) => (
        <Button
          key={issuer}
          component="a"
          href={startOf(startUrl, to)}
          aria-describedby={note ? id : undefined}
          size="lg"
          fullWidth
        >
          {t('signIn.with', { issuer: name })}
        </Button>
      ))}
    </div>
  );
}
