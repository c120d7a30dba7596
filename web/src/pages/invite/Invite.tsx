// The page of an invitation's link.
import '@/i18n/en/people';
import { Button } from '@mantine/core';
import { Link, Navigate } from '@tanstack/react-router';
import { useState } from 'react';
import { ApiError } from '@/api/errors';
import { ErrorState, SkeletonRows } from '@/components/States';
import { momentWithin } from '@/i18n/format';
import { t } from '@/i18n/text';
import { useSession } from '@/session';
import { useRestore } from '@/session/useRestore';
import { Frame } from '../sign-in/Frame';
import { useLinkToken } from '../sign-in/useLinkToken';
import { In } from './In';
import { Join } from './Join';
import { useInvitation, type Invitation } from './useInvitation';
import styles from './invite.module.css';

export function Invite() {
  const token = useLinkToken();
  const [joining, setJoining] = useState(false);
  const state = useSession();
  const invitation = useInvitation(token);
  const restoring = useRestore();
  const { data } = invitation;
  const error = invitation.error ?? restoring.error;
  const again = () => {
    if (invitation.error) invitation.again();
    if (restoring.error) restoring.again();
  };
  if (state.name === 'in' && joining) return <Navigate to="/" replace />;
  const page = t('invite.page');
  const toSignIn = (
    <Button component={Link} to="/sign-in" size="lg" fullWidth>
      {t('invite.signIn')}
    </Button>
  );
  if (!token)
    return (
      <Frame title={t('invite.none.title')} lead={t('invite.none.body')} page={page}>
        {toSignIn}
      </Frame>
    );
  if (error instanceof ApiError && (error.status === 404 || error.status === 422))
    return (
      <Frame title={t('invite.gone.title')} lead={t('invite.gone.body')} page={page}>
        {toSignIn}
      </Frame>
    );
  if (error instanceof ApiError && error.code === 'ACCOUNT_DISABLED')
    return (
      <Frame title={t('invite.disabled.title')} lead={t('invite.disabled.body')} page={page}>
        {toSignIn}
      </Frame>
    );
  if (error)
    return (
      <Frame title={t('invite.reading')} lead="" page={page}>
        <ErrorState what={t('invite.what')} error={error} onRetry={again} />
      </Frame>
    );
  if (!data || state.name === 'unknown')
    return (
      <Frame title={t('invite.reading')} lead="" page={page}>
        <SkeletonRows rows={3} />
      </Frame>
    );
  if (state.name === 'in') return <In account={data.accountName} email={state.tokens.user.email} />;
  return (
    <Frame
      title={t('invite.title', { account: data.accountName })}
      lead={t(data.role === 'owner' ? 'invite.asOwner' : 'invite.asMember')}
      page={page}
    >
      <Join token={token} onJoining={setJoining} />
      <Until it={data} />
    </Frame>
  );
}

function Until({ it }: { it: Invitation }) {
  return <p className={styles.until}>{t('invite.until', { when: momentWithin(it.expiresAt) })}</p>;
}
