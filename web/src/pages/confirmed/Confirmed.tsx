// The page that an identity provider's confirmation comes back to, in a tab of its own. The page that asked for it goes on, if the
// person has confirmed.
import { useCallback, useEffect, useState } from 'react';
import { ErrorState, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { signedInLately } from '@/session/lately';
import { stepUp } from '@/session/step_up';
import { Frame } from '../sign-in/Frame';
import { TabDone } from './TabDone';

// The tokens from before do not say that the person has confirmed; the tabs take the new ones from this one.
async function hasConfirmed(): Promise<boolean> {
  const before = await session.token();
  const token = await session.tokenAfter(before);
  if (token === null || signedInLately(token)) return token !== null;
  // Another tab may have asked for that one right before the person confirmed.
  const next = await session.tokenAfter(token);
  return next !== null && signedInLately(next);
}

export function Confirmed() {
  const [confirmed, setConfirmed] = useState<boolean>();
  const [error, setError] = useState<unknown>();
  const read = useCallback(() => {
    void hasConfirmed().then((is) => {
      setError(undefined);
      setConfirmed(is);
      if (is) stepUp.notifyOtherTabs();
    }, setError);
  }, []);
  useEffect(read, [read]);
  if (confirmed === undefined)
    return (
      <Frame title={t('confirmed.reading')} lead="" page={t('confirmed.reading')}>
        {error ? <ErrorState what={t('confirmed.what')} error={error} onRetry={read} /> : <SkeletonRows rows={2} />}
      </Frame>
    );
  return (
    <TabDone
      title={t(confirmed ? 'confirmed.title' : 'confirmed.not.title')}
      lead={t(confirmed ? 'confirmed.lead' : 'confirmed.not.lead')}
    />
  );
}
