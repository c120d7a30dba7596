// The link of an invitation, the one time that it is shown.
import '@/i18n/en/people';
import type { Schemas } from '@/api/client';
import { Bdi } from '@/components/Bdi';
import { Fact, FactList } from '@/components/Facts';
import { SecretOnce } from '@/components/SecretOnce';
import { moment } from '@/i18n/format';
import { t } from '@/i18n/text';
import { roleWord } from './roles';

type Props = { made: Schemas['CreatedInvitation'] | null; onDone: () => void };

export function LinkOnce({ made, onDone }: Props) {
  return (
    <SecretOnce
      secret={made?.url ?? null}
      title={t('invitations.made.title')}
      lead={t('invitations.made.lead')}
      stored={t('invitations.made.stored')}
      onDone={onDone}
    >
      {made ? (
        <FactList>
          {made.note ? (
            <Fact name={t('invitations.col.for')}>
              <Bdi>{made.note}</Bdi>
            </Fact>
          ) : null}
          <Fact name={t('invitations.made.role')}>{roleWord(made.role)}</Fact>
          <Fact name={t('invitations.col.until')}>{moment(made.expiresAt)}</Fact>
        </FactList>
      ) : null}
    </SecretOnce>
  );
}
