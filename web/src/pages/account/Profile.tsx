import '@/i18n/en/profile';
import { useQuery } from '@tanstack/react-query';
import { queries } from '@/api/queries';
import { Loaded, SkeletonRows } from '@/components/States';
import { t } from '@/i18n/text';
import { signInConfig } from '@/session/config';
import { AccountPage } from './AccountPage';
import { DeleteAccount } from './DeleteAccount';
import { Email } from './Email';
import { Password } from './Password';
import { ProfileFacts } from './ProfileFacts';
import { ProfileForm } from './ProfileForm';

export function Profile() {
  const read = useQuery(queries.account());
  const config = useQuery(signInConfig());
  const own = useQuery(queries.ownIssuer());
  return (
    <AccountPage tab="profile">
      <Loaded read={read} what={t('profile.what')} skeleton={<SkeletonRows rows={4} height={72} />}>
        {(it) => (
          <>
            {it.caller.role === 'owner' ? <ProfileForm it={it} /> : <ProfileFacts it={it} />}
            {own.data && it.caller.issuer === own.data && it.caller.email && config.data?.passwords ? (
              <Email email={it.caller.email} unconfirmed={config.data.mail && it.caller.emailVerified === false} />
            ) : null}
            <Password issuer={it.caller.issuer} email={it.caller.email} />
            {it.caller.role === 'owner' ? <DeleteAccount name={it.name} /> : null}
          </>
        )}
      </Loaded>
    </AccountPage>
  );
}
