// The page that an identity provider's confirmation comes back to, in a tab of its own. The page that asked for it goes on.
import { Link } from '@tanstack/react-router';
import { useEffect, useState } from 'react';
import { Alert } from '@/components/Alert';
import { sentence } from '@/api/errors';
import { t } from '@/i18n/text';
import { session } from '@/session';
import { stepUp } from '@/session/step_up';
import { Frame } from '../sign-in/Frame';

export function Confirmed() {
  const [error, setError] = useState<unknown>();
  useEffect(() => {
    // The tokens from before do not say that the person has confirmed; the tabs take the new ones from this one.
    session
      .token()
      .then((before) => session.tokenAfter(before))
      .then(stepUp.notifyOtherTabs)
      .catch(setError);
  }, []);
  return (
    <Frame title={t('confirmed.title')} lead={t('confirmed.lead')} page={t('confirmed.title')}>
      {error ? <Alert>{sentence(error)}</Alert> : null}
      <p>
        <Link className="link" to="/" search={{}}>
          {t('confirmed.home')}
        </Link>
      </p>
    </Frame>
  );
}
