import '@/i18n/en/customers';
import { useQueryClient } from '@tanstack/react-query';
import { api, ok, type Schemas } from '@/api/client';
import { ConfirmDialog } from '@/components/Dialogs';
import { toast } from '@/components/toasts';
import { t } from '@/i18n/text';

type Props = { it: Schemas['PrivacyRequest'] | null; onClose: () => void };

const bodyOf = (it: Schemas['PrivacyRequest']) =>
  it.kind === 'data_request'
    ? t('requests.close.data_request')
    : t(it.carriedOutAt === null ? 'requests.close.goingOn' : 'requests.close.erasure');

export function CloseRequest({ it, onClose }: Props) {
  const client = useQueryClient();
  return (
    <ConfirmDialog
      opened={it !== null}
      onClose={onClose}
      title={t('requests.close.title')}
      body={it ? bodyOf(it) : null}
      button={t('requests.close.button')}
      onConfirm={async () => {
        if (!it) return;
        const params = { path: { privacyRequest: it.id } };
        await ok(api.POST('/api/privacy-requests/{privacyRequest}/close', { params })).finally(() =>
          client.invalidateQueries({ queryKey: ['privacy requests'] }),
        );
        void client.invalidateQueries({ queryKey: ['overview'] });
        toast(t('requests.done'));
      }}
    />
  );
}
