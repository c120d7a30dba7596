// An invitation to somebody who is signed in. A person belongs to one account: nobody joins a second one.
import '@/i18n/en/people';
import { Button } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { queries } from '@/api/queries';
import { Bdi } from '@/components/Bdi';
import { t, T } from '@/i18n/text';
import { session } from '@/session';
import { Frame } from '../sign-in/Frame';
import styles from './invite.module.css';

export function In({ account, email }: { account: string; email: string }) {
  // The invitation names its account, and two accounts may have one name.
  const same = useQuery(queries.account()).data?.name === account;
  return (
    <Frame title={same ? t('invite.in.same.title', { account }) : t('invite.in.title')} lead="" page={t('invite.page')}>
      <div className={styles.words}>
        <p>
          <T k="invite.in.body" values={{ email: <Bdi className="strong">{email}</Bdi> }} />
        </p>
        <p className="muted">
          <T k={same ? 'invite.in.same.how' : 'invite.in.how'} values={{ account: <Bdi>{account}</Bdi> }} />
        </p>
        {same ? (
          <Button component={Link} to="/" variant="filled" size="lg">
            {t('invite.in.same.stay')}
          </Button>
        ) : null}
        <Button variant={same ? 'default' : 'filled'} size="lg" onClick={() => void session.signOut()}>
          {t('invite.in.out')}
        </Button>
        {same ? null : (
          <Button component={Link} to="/" size="lg">
            {t('invite.in.stay')}
          </Button>
        )}
      </div>
    </Frame>
  );
}
