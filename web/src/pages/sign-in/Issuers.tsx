// The identity providers with which people can sign in.
import { Button } from '@mantine/core';
import { useId } from 'react';
import { t } from '@/i18n/text';
import { useOwesSignOut } from '@/session';
import type { SignInConfig } from '@/session/config';
import { startOf } from '@/session/issuers';
import styles from './sign-in.module.css';

// `to`: the page that a person comes back to. `inTab`: the provider opens in a tab of its own, about which these words are, so that this
// page keeps what was typed.
type Props = { config: SignInConfig | undefined; to: string; or?: boolean; stepUp?: boolean; inTab?: string };

export function Issuers({ config, to, or = config?.passwords, stepUp = false, inTab }: Props) {
  const id = useId();
  const owed = useOwesSignOut(); // back from the provider, the sign-out that is owed would end the new session
  if (!config || config.issuers.length === 0 || owed) return null;
  return (
    <div className={styles.issuers}>
      {or ? <p className={styles.or}>{t('signIn.or')}</p> : null}
      {inTab ? (
        <p id={id} className="muted">
          {inTab}
        </p>
      ) : null}
      {config.issuers.map(({ id: issuer, name, startUrl }) => (
        <Button
          key={issuer}
          component="a"
          href={startOf(startUrl, to, { stepUp })}
          {...(inTab ? { target: '_blank', rel: 'noopener', 'aria-describedby': id } : {})}
          size="lg"
          fullWidth
        >
          {t('signIn.with', { issuer: name })}
        </Button>
      ))}
    </div>
  );
}
